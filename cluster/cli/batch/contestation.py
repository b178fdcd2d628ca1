"""`assayer batch contestation`: save the record for an applicant who contests an evaluation."""

from pathlib import Path
from typing import Annotated

import typer

from cluster.cli.batch.service_client import identify_kind, open_service_client
from cluster.cli.options import WithJson
from cluster.cli.output import make_folder, write_files
from cluster.cli.terminal import print_json


def contestation(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of an evaluation: ev_….")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("out"),
    as_json: WithJson = False,
) -> None:
    """Save the record for an applicant who contests: what was judged, masked and used, as PDF and JSON."""
    identify_kind(identifier, "evaluation")
    make_folder(out, "The files")
    stem = out / f"{identifier}-contestation"
    with open_service_client() as client:
        record = client.evaluations.contestation(identifier)
        pdf = client.evaluations.save_contestation(identifier, stem.with_suffix(".pdf"))
    (path,) = write_files({stem.with_suffix(".json"): record.model_dump_json(indent=2) + "\n"})
    if as_json:
        print_json({"files": [pdf, path]})
        return
    typer.echo(pdf)
    typer.echo(path)
