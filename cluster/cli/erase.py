"""`assayer erase`: all that the service has stored of one applicant, or of one batch."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.job_wording import state_in_words
from cluster.cli.options import WithProfile
from cluster.cli.output import prepare_file, write_files
from cluster.cli.service_client import service
from cluster.cli.terminal import remark
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client.erasures import Erasure

__all__ = ["erase"]


def erase(
    source: Annotated[
        str | None, typer.Option(help="What the idea was called when it was sent: a file's name, the id in its row.")
    ] = None,
    batch: Annotated[str | None, typer.Option(help="Id of a batch: bt_….")] = None,
    proof: Annotated[Path | None, typer.Option(help="File for the proof, as JSON.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before deleting.")] = False,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Delete all that is stored of one idea or one batch, and every comparison with it; rankings stay without it."""
    if (source is None) == (batch is None):
        raise InputError("Say what to erase: --source or --batch, one of them.")
    from assayer_client.erasures import ErasureBody

    if proof is not None:
        prepare_file(proof, "--proof")
    with service(profile) as client:
        found = client.erase_everywhere(ErasureBody(source=source, batch=batch, dry_run=True))
        if not (found.jobs or found.taken_out_of or found.refused_rows) and found.batch is None:
            raise InputError(f"Nothing is stored of {source or batch}.", "Names are compared letter by letter.")
        _show(found)
        if not yes:
            typer.confirm("Delete all of this? Nothing brings it back.", abort=True, err=True)
        gone = client.erase_everywhere(ErasureBody(source=source, batch=batch))
        remark(f"Deleted: {_counted(gone)}.")
        for ranking in gone.taken_out_of:
            remark(f"Taken out of the ranking {ranking.id}.")
        if gone.proof is None:
            return
        remark(f"Proof: entry {gone.proof} of the audit log, GET /v1/erasures/{gone.proof}.")
        if proof is not None:
            write_files({proof: client.erasure_proof(gone.proof).model_dump_json(indent=2) + "\n"})
            typer.echo(proof)


def _show(found: "Erasure") -> None:
    for one in found.jobs:
        place = f", row {one.row} of {one.batch}" if one.batch else ""
        typer.echo(f"{one.id} ({one.kind}, {state_in_words(one.state)}{place}): {one.title}")
    remark(f"To be deleted: {_counted(found)}.")
    for ranking in found.taken_out_of:
        taken = "this idea" if ranking.taken == 1 else f"{ranking.taken:,} ideas"
        remark(
            f"The ranking {ranking.id} ({ranking.title}) stays, without {taken}: the other {ranking.left:,} keep their "
            "ranks."
        )
    for warning in found.warnings:
        remark(warning)


def _counted(found: "Erasure") -> str:
    kinds = Counter(one.kind for one in found.jobs)
    parts = [f"{count:,} {kind}{'s' * (count > 1 and not kind.endswith('s'))}" for kind, count in kinds.items()]
    if found.refused_rows:
        parts.append(f"{found.refused_rows:,} refused row{'s' * (found.refused_rows > 1)}")
    if found.batch:
        parts.append(f"the batch {found.batch}")
    return ", ".join(parts) or "nothing"
