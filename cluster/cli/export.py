"""`assayer export`: convert reports to other programs' formats, as local files. Nothing is uploaded."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from assayer.errors import InputError
from cluster.cli.options import WithJson
from cluster.cli.output import make_folder, write_files
from cluster.cli.terminal import print_json, print_markup
from cluster.whole_files import read_whole_text

ExportFormat = Literal["huggingface", "openreview"]


def export(
    reports: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with reports as JSON.")],
    format: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="huggingface: a data set (card and Parquet); openreview: draft reviews, which are never posted.",
        ),
    ],
    form: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With openreview: the review form's invitation, as JSON; by default a typical form."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("export"),
    as_json: WithJson = False,
) -> None:
    """Write reports as a Hugging Face data set or as draft OpenReview reviews."""
    from assayer.reports.openreview_drafts import draft_review, list_form_fields
    from cluster.ranking_inputs import read_reports
    from cluster.report_dataset import write_dataset

    if form is not None and format != "openreview":
        raise InputError("--form requires --format openreview.")
    loaded_reports = list(read_reports(reports))
    if not loaded_reports:
        raise InputError(
            f"{reports} contains no reports.", "Pass an output folder of `assayer evaluate --format json`."
        )
    make_folder(out, "The export")
    remarks = []
    if format == "huggingface":
        files = write_dataset(out, loaded_reports)
    else:
        fields = list_form_fields(_read_json(form)) if form is not None else None
        drafts = [draft_review(report, *([fields] if fields else [])) for report in loaded_reports]
        for draft in drafts:
            if draft.note is None:
                remarks.append(f"{draft.title}: no draft, because the report has no finding for any field.")
            elif draft.note["forum"] is None:
                remarks.append(f"{draft.title}: no forum, because the idea was not read from an OpenReview note.")
        if fields_left := sorted({field for draft in drafts if draft.note for field in draft.left_to_you}):
            remarks.append(f"Fields to fill in yourself: {', '.join(fields_left)}.")
        notes = [draft.note for draft in drafts if draft.note is not None]
        files = write_files(
            {out / "openreview.json": json.dumps({"notes": notes}, indent=2, ensure_ascii=False) + "\n"}
        )
    if as_json:
        print_json({"reports": len(loaded_reports), "files": files, "remarks": remarks})
        return
    for remark in remarks:
        print_markup(escape(remark))
    print_markup(escape(f"Written: {', '.join(map(str, files))}"))


def _read_json(path: Path) -> object:
    try:
        return json.loads(read_whole_text(path))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}.", "Pass the JSON file of the review invitation.") from None
