"""`assayer batch fetch`: download reports and results from the service."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.batch.fetch_record import FetchRecord
from cluster.cli.batch.fetched_index import FetchedReport, index_page
from cluster.cli.batch.fetched_names import NamedProposal, report_names
from cluster.cli.batch.job_wording import describe_score
from cluster.cli.batch.service_client import identify_kind, open_service_client
from cluster.cli.options import WithJson
from cluster.cli.output import make_folder, write_files
from cluster.cli.terminal import StepProgress, print_json, print_remark

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.batches import ResultsFormat
    from assayer_client.evaluations import Evaluation


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
_DEFAULT_FORMATS = {"evaluation": list(_REPORTS), "batch": [FetchFormat.jsonl], "ranking": list(_RANKINGS)}
_PAGE = 500
_GONE = 410


def fetch(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of an evaluation, a batch or a ranking.")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("out"),
    formats: Annotated[
        list[FetchFormat] | None,
        typer.Option(
            "--format",
            help="Format; repeat for several. html, md, json: each report; pdf: each report on two pages, and a "
            "batch's dossier; jsonl, csv, xlsx, parquet: a batch's table; csv: a ranking.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Fetch a batch's reports again even if they are already in the folder.")
    ] = False,
    as_json: WithJson = False,
) -> None:
    """Save reports or results to files and print their paths. Run again to resume. Exit code 1: there are none yet."""
    kind = identify_kind(identifier, "evaluation", "batch", "ranking")
    chosen_formats = formats or _DEFAULT_FORMATS[kind]
    make_folder(out, "The files")
    with open_service_client() as client:
        match kind:
            case "batch":
                files = list(_fetch_batch(client, identifier, out, chosen_formats, again=again))
            case "ranking":
                files = list(_fetch_ranking(client, identifier, out, chosen_formats))
            case _:
                files = list(_fetch_reports(client, identifier, out / identifier, chosen_formats))
    if as_json:
        print_json({"files": files})
    for file in files if not as_json else ():
        typer.echo(file)
    if not files:
        print_remark(f"{identifier} has no report yet.")
        raise typer.Exit(1)


def _fetch_reports(client: "Client", job: str, stem: Path, formats: list[FetchFormat]) -> Iterator[Path]:
    for format in formats:
        if format == FetchFormat.pdf:
            yield client.evaluations.save_brief(job, stem.with_name(f"{stem.name}.{format}"))
            continue
        if format not in _REPORTS:
            choice = ", ".join([*_REPORTS, FetchFormat.pdf])
            raise InputError(f"Reports are not available as {format}.", f"Choose from {choice}.")
        yield _write(stem, format, client.evaluations.report_text(job, _REPORTS[format]))


def _fetch_ranking(client: "Client", job: str, out: Path, formats: list[FetchFormat]) -> Iterator[Path]:
    for format in formats:
        if format not in _RANKINGS:
            raise InputError(f"Rankings are not available as {format}.", f"Choose from {', '.join(_RANKINGS)}.")
        yield _write(out / job, format, client.rankings.report_text(job, _RANKINGS[format]))


def _fetch_batch(client: "Client", batch: str, out: Path, formats: list[FetchFormat], *, again: bool) -> Iterator[Path]:
    reports = [format for format in formats if format in _REPORTS or format == FetchFormat.pdf]
    fetched_reports = (
        fetch_reports_of_batch(client, batch, out, reports, FetchRecord(out, batch, anew=again)) if reports else []
    )
    for report in fetched_reports:
        yield from report.files
    for format in formats:
        if format in _TABLES:
            yield client.batches.save_results(batch, out / f"{batch}.{format}", format=_TABLES[format])
        elif format == FetchFormat.pdf:
            yield client.batches.save_dossier(batch, out / f"{batch}.{format}")
    if fetched_reports:
        (index,) = write_files({out / "index.html": index_page(batch, client.batches.get(batch).name, fetched_reports)})
        yield index


def fetch_reports_of_batch(
    client: "Client", batch: str, out: Path, formats: list[FetchFormat], record: FetchRecord
) -> list[FetchedReport]:
    """Fetch a batch's reports, in row order."""
    from assayer_client import ApiProblem

    jobs = list(client.each(client.evaluations.list, batch=batch, limit=_PAGE))
    names = report_names((NamedProposal(job.id, job.row, job.source) for job in jobs), used_names=("index", batch))
    succeeded_jobs = sorted((job for job in jobs if job.state == "succeeded"), key=lambda item: item.row or 0)
    fetched: list[FetchedReport] = []
    reports_on_disk = 0
    try:
        with StepProgress("Reports", len(succeeded_jobs)) as progress:
            for job in succeeded_jobs:
                targets = {format: out / f"{names[job.id]}.{format}" for format in formats}
                missing_formats = [format for format, file in targets.items() if not record.has(job.id, file)]
                reports_on_disk += not missing_formats
                try:
                    for file in _fetch_reports(client, job.id, out / names[job.id], missing_formats):
                        record.add(job.id, file)
                except ApiProblem as problem:
                    if problem.status != _GONE:
                        raise
                    print_remark(f"Row {job.row} ({job.title}, {job.id}): its report has been deleted.")
                    continue
                fetched.append(_build_fetched_report(job, list(targets.values())))
                progress.finish_step()
    except BaseException:
        print_remark(
            f"{len(fetched):,} of {len(succeeded_jobs):,} reports are in {out}. Run the same command to continue."
        )
        raise
    if reports_on_disk:
        print_remark(
            f"{reports_on_disk:,} of {len(succeeded_jobs):,} reports were already in {out} "
            "(--again fetches them again)."
        )
    return fetched


def _build_fetched_report(job: "Evaluation", files: list[Path]) -> FetchedReport:
    scores = job.scores
    return FetchedReport(
        row=job.row,
        title=job.title,
        source=job.source,
        id=job.id,
        files=files,
        score="" if scores is None else describe_score(scores),
        lacking=(scores.reason or "") if scores is not None and scores.score is None else "",
    )


def _write(stem: Path, format: FetchFormat, text: str) -> Path:
    (path,) = write_files({stem.with_name(f"{stem.name}.{format}"): text})
    return path
