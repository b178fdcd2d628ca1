"""`assayer submit`: ideas to a running service."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import AssayerError
from cluster.cli.handing_in import bundles, files_of
from cluster.cli.options import day
from cluster.cli.remote import WithProfile, remark, service
from cluster.cli.watch import watch_all
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from orchestrator.api.batch_resources import AcceptedBatch
    from orchestrator.client import Client

__all__ = ["submit"]

_ONE_IDEA = (".txt", ".md")


def submit(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Ideas: .txt, .md, .json, .jsonl, .csv, .pdf or .zip files, or folders of them."),
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
    """One text is an evaluation; anything else is a batch, in several parts when it is too much for one request."""
    options = {key: value for key, value in {"method": method, "cutoff": cutoff}.items() if value is not None}
    if len(files) == 1 and files[0].suffix.lower() in _ONE_IDEA:
        yield _one(client, files[0], options)
        return
    yield _batch(client, files, options, name)


def _one(client: "Client", file: Path, options: Mapping[str, object]) -> str:
    from assayer.texts import decode_text
    from orchestrator.client import EvaluationBody, IdeaBody

    text = decode_text(file.read_bytes(), str(file))
    body = {"idea": IdeaBody(text=text), "source": file.name[:200], **options}
    return client.submit(EvaluationBody.model_validate(body)).id


def _batch(client: "Client", files: Sequence[Path], options: Mapping[str, object], name: str) -> str:
    from orchestrator.client import BatchQuery, MoreRowsQuery, Upload

    first, *others = [[Upload(file.name, file) for file in bundle] for bundle in bundles(files)]
    named = {"name": name} if name else {}
    accepted = client.submit_files(first, BatchQuery.model_validate({**options, **named, "open": bool(others)}))
    rows, taken = _told(accepted)
    for number, uploads in enumerate(others, 1):
        place = {"first": accepted.next_row, "open": number < len(others)}
        try:
            accepted = client.add_files(accepted.id, uploads, MoreRowsQuery.model_validate({**options, **place}))
        except AssayerError:
            remark(f"The batch {accepted.id} has {taken:,} ideas and lacks the files from {uploads[0].name} on.")
            raise
        more = _told(accepted)
        rows, taken = rows + more[0], taken + more[1]
    remark(f"{taken:,} of {rows:,} rows are accepted in the batch {accepted.id}.")
    return accepted.id


def _told(accepted: "AcceptedBatch") -> tuple[int, int]:
    """How many rows there were, and how many of them are accepted."""
    for row in accepted.rejected:
        remark(f"Refused: {row.detail if row.source in row.detail else f'{row.source}: {row.detail}'}")
    for notice in accepted.notices:
        remark(notice)
    return accepted.rows, accepted.accepted
