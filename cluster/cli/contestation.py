"""`assayer contestation`: the record given to an applicant who contests an evaluation."""

from pathlib import Path
from typing import Annotated

import typer

from cluster.cli.options import WithProfile
from cluster.cli.output import make_folder, write_files
from cluster.cli.service_client import kind_of, service


def contestation(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of an evaluation: ev_….")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("out"),
    profile: WithProfile = "laptop",
) -> None:
    """Save the record for an applicant who contests: what was judged, masked and used, as PDF and JSON."""
    kind_of(identifier, "evaluation")
    make_folder(out, "The files")
    stem = out / f"{identifier}-contestation"
    with service(profile) as client:
        record = client.evaluations.contestation(identifier)
        typer.echo(client.evaluations.save_contestation(identifier, stem.with_suffix(".pdf")))
    (path,) = write_files({stem.with_suffix(".json"): record.model_dump_json(indent=2) + "\n"})
    typer.echo(path)
