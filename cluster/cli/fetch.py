"""`assayer fetch`: reports and results from the service into files."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.fetched_index import FetchedReport, index_page
from cluster.cli.fetched_names import NamedProposal, report_names, with_report_files
from cluster.cli.options import WithProfile
from cluster.cli.output import make_folder, write_files
from cluster.cli.service_client import kind_of, service
from cluster.cli.terminal import remark
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.batches import ResultsFormat

__all__ = ["fetch"]


class FetchFormat(StrEnum):
    html = "html"
    md = "md"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    xlsx = "xlsx"
    parquet = "parquet"
    pdf = "pdf"


_REPORTS = {FetchFormat.html: "text/html", FetchFormat.md: "text/markdown", FetchFormat.json: "application/json"}
_RANKINGS = _REPORTS | {FetchFormat.csv: "text/csv"}
_TABLES: "dict[FetchFormat, ResultsFormat]" = {
    FetchFormat.jsonl: "jsonl",
    FetchFormat.csv: "csv",
    FetchFormat.xlsx: "xlsx",
    FetchFormat.parquet: "parquet",
}
_USUAL = {"evaluation": list(_REPORTS), "batch": [FetchFormat.jsonl], "ranking": list(_RANKINGS)}
_PAGE = 500


def fetch(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of an evaluation, a batch or a ranking.")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("out"),
    formats: Annotated[
        list[FetchFormat] | None,
        typer.Option(
            "--format",
            help="May be repeated. html, md, json: each report; pdf: each on two pages, and a batch's dossier; "
            "jsonl, csv, xlsx, parquet: a batch's table; csv: a ranking.",
        ),
    ] = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Save reports or results to files and print their paths. Exit code 1: there are none yet."""
    kind = kind_of(identifier, "evaluation", "batch", "ranking")
    wanted = formats or _USUAL[kind]
    make_folder(out, "The files")
    with service(profile) as client:
        match kind:
            case "batch":
                files = list(_of_batch(client, identifier, out, wanted))
            case "ranking":
                files = list(_of_ranking(client, identifier, out, wanted))
            case _:
                files = list(_reports(client, identifier, out / identifier, wanted))
    for file in files:
        typer.echo(file)
    if not files:
        remark(f"{identifier} has no report yet.")
        raise typer.Exit(1)


def _reports(client: "Client", job: str, stem: Path, formats: list[FetchFormat]) -> Iterator[Path]:
    for format in formats:
        if format == FetchFormat.pdf:
            yield client.save_brief(job, stem.with_name(f"{stem.name}.{format}"))
            continue
        if format not in _REPORTS:
            choice = ", ".join([*_REPORTS, FetchFormat.pdf])
            raise InputError(f"Reports are not available as {format}.", f"Choose from {choice}.")
        yield _write(stem, format, client.report_text(job, _REPORTS[format]))


def _of_ranking(client: "Client", job: str, out: Path, formats: list[FetchFormat]) -> Iterator[Path]:
    for format in formats:
        if format not in _RANKINGS:
            raise InputError(f"Rankings are not available as {format}.", f"Choose from {', '.join(_RANKINGS)}.")
        yield _write(out / job, format, client.ranking_text(job, _RANKINGS[format]))


def _of_batch(client: "Client", batch: str, out: Path, formats: list[FetchFormat]) -> Iterator[Path]:
    reports = [format for format in formats if format in _REPORTS or format == FetchFormat.pdf]
    listed = _reports_of_batch(client, batch, out, reports) if reports else []
    for one in listed:
        yield from one.files
    for format in formats:
        if format in _TABLES:
            table = client.save_results(batch, out / f"{batch}.{format}", format=_TABLES[format])
            if format == FetchFormat.csv and listed:
                files = {one.id: one.files[0].name for one in listed}
                write_files({table: with_report_files(table.read_bytes().decode(), files)})
            yield table
        elif format == FetchFormat.pdf:
            yield client.save_dossier(batch, out / f"{batch}.{format}")
    if listed:
        (index,) = write_files({out / "index.html": index_page(batch, listed)})
        yield index


def _reports_of_batch(client: "Client", batch: str, out: Path, formats: list[FetchFormat]) -> list[FetchedReport]:
    """In the order of the rows."""
    jobs = list(client.each(client.evaluations, batch=batch, limit=_PAGE))
    names = report_names((NamedProposal(job.id, job.row, job.source) for job in jobs), taken=("index", batch))
    return [
        FetchedReport(
            row=job.row,
            title=job.title,
            source=job.source,
            id=job.id,
            files=list(_reports(client, job.id, out / names[job.id], formats)),
        )
        for job in sorted(jobs, key=lambda one: one.row or 0)
        if job.state == "done"
    ]


def _write(stem: Path, format: FetchFormat, text: str) -> Path:
    (path,) = write_files({stem.with_name(f"{stem.name}.{format}"): text})
    return path
