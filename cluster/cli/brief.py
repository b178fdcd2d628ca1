"""`assayer brief`: write reports as PDFs of at most two pages."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from assayer.errors import InputError
from cluster.cli.options import WithJson
from cluster.cli.output import make_folder, make_names_distinct, make_safe_name
from cluster.cli.terminal import print_json
from cluster.whole_files import read_whole, write_whole


def brief(
    reports: Annotated[list[Path], typer.Argument(help="Reports as JSON, as `assayer evaluate` writes them.")],
    out: Annotated[Path, typer.Option(help="Folder for the PDFs.")] = Path("out"),
    fonts: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with additional fonts for scripts that this machine lacks; may be repeated."),
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Print each report as a PDF of at most two pages."""
    from assayer.models import Report
    from assayer.reports.pdf import render_brief_pdf

    make_folder(out, "PDFs")
    written: list[Path] = []
    names = make_names_distinct(make_safe_name(path.name.removesuffix(".json")) or "report" for path in reports)
    for path, name in zip(reports, names, strict=True):
        try:
            report = Report.model_validate_json(read_whole(path))
        except ValidationError as error:
            first_error = error.errors()[0]
            place = ".".join(map(str, first_error["loc"])) or "file"
            raise InputError(
                f"{path} is not an assayer report: {place}: {first_error['msg']}.", "Pass the JSON file of a report."
            ) from None
        written.append(out / f"{name}.pdf")
        write_whole(written[-1], render_brief_pdf(report, fonts or ()))
        if not as_json:
            typer.echo(written[-1])
    if as_json:
        print_json({"files": written})
