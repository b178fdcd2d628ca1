"""`assayer submit`: ideas to a running service."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.handing_in import bundles, files_of
from cluster.cli.options import day
from cluster.cli.remote import WithProfile, remark, service
from cluster.cli.watch import watch_all
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from orchestrator.client import Client

__all__ = ["submit"]

_ONE_IDEA = (".txt", ".md")


def submit(
    paths: Annotated[
        list[Path], typer.Argument(help="Ideas: .txt, .md, .json, .jsonl, .csv or .pdf files, or folders of them.")
    ],
    method: Annotated[str | None, typer.Option(help="Evaluation method; the service's default otherwise.")] = None,
    cutoff: Annotated[str | None, typer.Option(help="YYYY-MM-DD: literature published later is not used.")] = None,
    name: Annotated[str, typer.Option(help="Of the batch, for people.")] = "",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Watch until all have ended.")] = False,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Hand ideas to the service; prints the id of each evaluation or batch."""
    last_day = day(cutoff, "cutoff")
    files = files_of(paths)
    with service(profile) as client:
        ids = []
        for identifier in _handed_in(client, files, method, last_day, name):
            typer.echo(identifier)
            ids.append(identifier)
        if wait and not watch_all(client, ids):
            raise typer.Exit(1)


def _handed_in(
    client: "Client", files: Sequence[Path], method: str | None, cutoff: dt.date | None, name: str
) -> Iterator[str]:
    """One text is an evaluation; anything else is a batch, or several when it is too much for one request."""
    options = {key: value for key, value in {"method": method, "cutoff": cutoff}.items() if value is not None}
    if len(files) == 1 and files[0].suffix.lower() in _ONE_IDEA:
        yield _one(client, files[0], options)
        return
    parts = list(bundles(files))
    for number, part in enumerate(parts, 1):
        called = f"{name} ({number} of {len(parts)})".strip() if len(parts) > 1 else name
        yield _batch(client, part, {**options, **({"name": called} if called else {})})


def _one(client: "Client", file: Path, options: Mapping[str, object]) -> str:
    from assayer.texts import decode_text
    from orchestrator.client import EvaluationBody, IdeaBody

    text = decode_text(file.read_bytes(), str(file))
    body = {"idea": IdeaBody(text=text), "source": file.name[:200], **options}
    return client.submit(EvaluationBody.model_validate(body)).id


def _batch(client: "Client", files: Sequence[Path], options: Mapping[str, object]) -> str:
    from orchestrator.client import BatchQuery, Upload

    uploads = [Upload(file.name, file) for file in files]
    accepted = client.submit_files(uploads, BatchQuery.model_validate(options))
    for row in accepted.rejected:
        remark(f"Refused: {row.source}: {row.detail}")
    for notice in accepted.notices:
        remark(notice)
    remark(f"{accepted.accepted:,} of {accepted.rows:,} rows are accepted in the batch {accepted.id}.")
    return accepted.id
