"""`assayer corpus ingest`: paper records in Parquet from what others publish."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from cluster.cli.options import day
from cluster.settings import load_settings

if TYPE_CHECKING:
    from index.ingest import IngestSummary
    from index.ingest.ingesting import Report

__all__ = ["app"]

app = typer.Typer(
    help="Make paper records of data sets. Run again, it does what is missing; a new release yields what has changed.",
    no_args_is_help=True,
)

_To = Annotated[str, typer.Option("--to", help="The folder, one for each origin; any address that fsspec knows.")]


@app.command()
def s2(
    to: _To,
    files: Annotated[
        str | None, typer.Argument(help="A folder of downloaded datasets; without it the service is asked.")
    ] = None,
    release: Annotated[
        str, typer.Option(help="YYYY-MM-DD or latest; of files, the release that they are of.")
    ] = "latest",
    datasets: Annotated[
        str,
        typer.Option(
            help="Of the service, by commas: papers,abstracts,citations at first, then what the folder has; "
            "also s2orc_v2 and embeddings-specter_v2."
        ),
    ] = "",
) -> None:
    """Semantic Scholar's datasets: a full release first, diffs from then on."""
    from cluster.ingesting import ingest_s2_files, ingest_s2_release

    settings, names = load_settings(), [one.strip() for one in datasets.split(",") if one.strip()]
    if files is not None:
        _run(partial(ingest_s2_files, to, files, "" if release == "latest" else release, settings))
    else:
        _run(partial(ingest_s2_release, to, release, names, settings))


@app.command()
def arxiv(
    to: _To,
    since: Annotated[str | None, typer.Option("--from", help="YYYY-MM-DD; where the last run ended.")] = None,
    until: Annotated[str | None, typer.Option(help="YYYY-MM-DD; yesterday.")] = None,
    subjects: Annotated[
        str | None,
        typer.Option("--set", help="A set of the service, as cs or physics:hep-th; the folder knows it."),
    ] = None,
) -> None:
    """arXiv's metadata over OAI-PMH."""
    from cluster.ingesting import ingest_arxiv

    first, last = day(since, "date for --from"), day(until, "date for --until")
    _run(partial(ingest_arxiv, to, first, last, subjects, load_settings()))


@app.command()
def openalex(
    to: _To,
    manifest: Annotated[
        str | None, typer.Argument(help="The manifest of works; that of the last time, or OpenAlex's own bucket.")
    ] = None,
    merged: Annotated[
        list[str] | None, typer.Option(help="CSV files of merged ids, or a folder of them, of older snapshots.")
    ] = None,
) -> None:
    """The works of an OpenAlex snapshot."""
    from cluster.ingesting import ingest_openalex

    _run(partial(ingest_openalex, to, manifest, merged or [], load_settings()))


@app.command()
def jsonl(
    to: _To,
    files: Annotated[list[str], typer.Argument(help="Our own records: .jsonl or .jsonl.gz files, or folders.")],
) -> None:
    """Paper records in JSON Lines; later files replace what earlier ones said of a paper."""
    from cluster.ingesting import ingest_jsonl

    _run(partial(ingest_jsonl, to, files, load_settings()))


_Ingesting = Callable[["Report"], Coroutine[None, None, "IngestSummary"]]


def _run(ingesting: _Ingesting) -> None:
    console = Console(highlight=False)
    with _bar(console) as report:
        summary = asyncio.run(ingesting(report))
    _show(summary, console)


@contextmanager
def _bar(console: Console) -> Iterator["Report"]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage)
            bar.update(tasks[stage], completed=done, total=total)

        yield report


def _show(summary: "IngestSummary", console: Console) -> None:
    console.print(
        f"Read {summary.taken:,} files with {summary.rows:,} usable lines; {summary.there:,} were in before.",
        soft_wrap=True,
    )
    if not summary.parts:
        console.print("Nothing has changed.")
    else:
        console.print(f"Joined {summary.parts:,} partitions with {summary.records:,} papers.", soft_wrap=True)
    if summary.upserts or summary.deletions:
        console.print(
            f"For the corpus to take: {summary.upserts:,} new and changed papers in upserts/, "
            f"{summary.deletions:,} that are gone in deletions.txt.",
            soft_wrap=True,
        )
    for reason in summary.rejected:
        console.print(f"[yellow]Set aside[/] {reason.count:,} × {escape(reason.reason)}", soft_wrap=True)
