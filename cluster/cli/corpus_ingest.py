"""`assayer corpus ingest`: convert published paper data to paper records in Parquet."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from assayer.errors import InputError
from cluster.cli.options import WithJson, parse_day_option, split_at_commas
from cluster.cli.terminal import Outcome, StageProgress
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from index.ingest.pipeline import IngestSummary, ReportProgress

app = typer.Typer(
    help="Convert published data sets to paper records. Run again to resume or to fetch changes.",
    no_args_is_help=True,
)

_RECORD = (
    "Each line must be one of: a JSON object with id, title and abstract; a record from arXiv's Kaggle snapshot; a "
    "paper from the Semantic Scholar or Crossref API."
)
_TABLE = (
    "Convert it to JSON Lines: one JSON object per row, with the column headings as field names. "
    "The columns that Dimensions and Scopus export are recognised."
)
_To = Annotated[str, typer.Option("--to", help="Output folder or fsspec URL; use one per source.")]


@app.command()
def s2(
    to: _To,
    files: Annotated[str | None, typer.Argument(help="Folder of data sets that are already downloaded.")] = None,
    release: Annotated[
        str, typer.Option(help="Release: YYYY-MM-DD or latest. With a folder, the release of its files.")
    ] = "latest",
    datasets: Annotated[
        str,
        typer.Option(
            help="Datasets to download, separated by commas: papers,abstracts,citations in the first run, then those "
            "in the output folder. s2orc_v2 and embeddings-specter_v2 are also available."
        ),
    ] = "",
    as_json: WithJson = False,
) -> None:
    """Ingest the Semantic Scholar data sets: a full release in the first run, then diffs."""
    from cluster.corpora.ingest import ingest_s2_files, ingest_s2_release

    settings, names = load_settings(), split_at_commas(datasets)
    if files is not None:
        _run(partial(ingest_s2_files, to, files, "" if release == "latest" else release, settings), as_json)
    else:
        _run(partial(ingest_s2_release, to, release, names, settings), as_json)


@app.command()
def arxiv(
    to: _To,
    since: Annotated[
        str | None, typer.Option("--from", help="First day, YYYY-MM-DD; by default, where the last run ended.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Last day, YYYY-MM-DD; by default, yesterday.")] = None,
    subjects: Annotated[
        str | None,
        typer.Option("--set", help="OAI-PMH set, such as cs or physics:hep-th; the folder remembers it."),
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Ingest arXiv's metadata over OAI-PMH."""
    from cluster.corpora.ingest import ingest_arxiv

    first_day, last_day = parse_day_option(since, "date for --from"), parse_day_option(until, "date for --until")
    _run(partial(ingest_arxiv, to, first_day, last_day, subjects, load_settings()), as_json)


@app.command()
def openalex(
    to: _To,
    manifest: Annotated[
        str | None, typer.Argument(help="Manifest of works; by default the one used last, or OpenAlex's.")
    ] = None,
    merged: Annotated[
        list[str] | None, typer.Option(help="CSV files of ids merged in older snapshots, or a folder of them.")
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Ingest the works in an OpenAlex snapshot."""
    from cluster.corpora.ingest import ingest_openalex

    _run(partial(ingest_openalex, to, manifest, merged or [], load_settings()), as_json)


@app.command()
def jsonl(
    to: _To,
    files: Annotated[list[str], typer.Argument(help="Paper records: .json, .jsonl or .jsonl.gz files, or folders.")],
    as_json: WithJson = False,
) -> None:
    """Ingest paper records in JSON Lines, one per line. Lines from arXiv's Kaggle snapshot and papers from the Semantic
    Scholar and Crossref APIs are accepted too. Later files override earlier ones."""
    from cluster.corpora.ingest import ingest_jsonl

    if tables := [file for file in files if file.lower().endswith((".csv", ".tsv", ".xlsx"))]:
        raise InputError(f"{tables[0]} is a spreadsheet; paper records are read from JSON Lines.", _TABLE)
    summary = _run(partial(ingest_jsonl, to, files, load_settings()), as_json)
    if summary.taken and not summary.rows:
        raise InputError(f"Nothing was added to {to}: no line in {', '.join(files)} is a paper record.", _RECORD)


@app.command()
def tei(
    folder: Annotated[Path, typer.Argument(help="Folder of GROBID's TEI files, each named after its paper's id.")],
    to: Annotated[
        Path, typer.Option("--to", help="JSON Lines file to write, for `assayer corpus build` and `update`.")
    ],
    as_json: WithJson = False,
) -> None:
    """Convert papers parsed by GROBID to paper records, including the works that each passage cites."""
    from assayer.reports.wording import format_count
    from cluster.corpora.tei_records import list_tei_files, write_tei_records

    tei_records = write_tei_records(list_tei_files(folder), to)
    with Outcome(as_json=as_json) as outcome:
        outcome.add(
            *(f"[yellow]Skipped[/] {escape(refusal)}" for refusal in tei_records.refused),
            file=to,
            **tei_records._asdict(),
        )
        if not tei_records.written:
            raise InputError(
                f"No papers were found in {folder}; nothing was written to {to}.",
                "Pass a folder of TEI files from GROBID.",
            )
        outcome.add(
            f"Wrote {format_count(tei_records.written, 'paper')} to {escape(str(to))}, whose texts cite "
            f"{format_count(tei_records.works, 'work')} in {format_count(tei_records.places, 'place')}."
        )


_Ingesting = Callable[["ReportProgress"], Coroutine[None, None, "IngestSummary"]]


def _run(ingesting: _Ingesting, as_json: bool) -> "IngestSummary":
    with StageProgress() as report:
        summary = asyncio.run(ingesting(report))
    with Outcome(as_json=as_json) as outcome:
        outcome.add(*_describe_summary(summary), **summary._asdict())
    return summary


def _describe_summary(summary: "IngestSummary") -> Iterator[str]:
    from assayer.reports.wording import format_count

    input_text = f"{format_count(summary.taken, 'file')} with {format_count(summary.rows, 'usable line')}"
    yield f"Read {input_text}; already ingested: {summary.there:,}."
    if not summary.parts:
        yield "Nothing has changed."
    else:
        yield f"Joined {format_count(summary.parts, 'partition')} with {format_count(summary.records, 'paper')}."
    if summary.upserts or summary.deletions:
        yield (
            f"Ready for the corpus: {format_count(summary.upserts, 'new or changed paper')} in upserts/, "
            f"{format_count(summary.deletions, 'deleted paper')} in deletions.txt."
        )
    for reason in summary.rejected:
        yield f"[yellow]Skipped[/] {reason.count:,} × {escape(reason.reason)}"
