"""`assayer batch erase`: delete everything that the service has stored about an idea or a batch."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.batch.service_client import open_service_client
from cluster.cli.options import WithJson
from cluster.cli.output import prepare_file, write_files
from cluster.cli.terminal import print_json, print_remark

if TYPE_CHECKING:
    from assayer_client.erasures import Erasure


def erase(
    source: Annotated[
        str | None, typer.Option(help="The idea's name as submitted: its file name, or the id in its row.")
    ] = None,
    batch: Annotated[str | None, typer.Option(help="Id of a batch: bt_….")] = None,
    proof: Annotated[Path | None, typer.Option(help="File for the proof, as JSON.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking for confirmation.")] = False,
    as_json: WithJson = False,
) -> None:
    """Delete everything stored about an idea or a batch, including comparisons; rankings are kept without it."""
    if (source is None) == (batch is None):
        raise InputError("Pass either --source or --batch.")
    from assayer_client.erasures import ErasureBody

    if proof is not None:
        prepare_file(proof, "--proof")
    with open_service_client() as client:
        erasure = client.erasures.create(ErasureBody(source=source, batch=batch, dry_run=True))
        if not (erasure.jobs or erasure.redacted_rankings or erasure.rejected_rows) and erasure.batch is None:
            raise InputError(f"Nothing is stored about {source or batch}.", "Names must match exactly.")
        if not as_json:
            _show(erasure)
        if not yes:
            typer.confirm("Delete all of this? This cannot be undone.", abort=True, err=True)
        gone = client.erasures.create(ErasureBody(source=source, batch=batch))
        if as_json:
            print_json(gone)
        print_remark(f"Deleted: {_describe_contents(gone)}.")
        for ranking in gone.redacted_rankings:
            print_remark(f"Removed from the ranking {ranking.id}.")
        if gone.proof is None:
            return
        print_remark(f"Proof: entry {gone.proof} of the audit log, GET /v1/erasures/{gone.proof}.")
        if proof is not None:
            write_files({proof: client.erasures.get_proof(gone.proof).model_dump_json(indent=2) + "\n"})
            if not as_json:
                typer.echo(proof)


def _show(erasure: "Erasure") -> None:
    for job in erasure.jobs:
        row_text = f", row {job.row} of {job.batch}" if job.batch else ""
        typer.echo(f"{job.id} ({job.kind}, {job.state}{row_text}): {job.title}")
    print_remark(f"To be deleted: {_describe_contents(erasure)}.")
    for ranking in erasure.redacted_rankings:
        removed_text = "this idea" if ranking.removed_proposals == 1 else f"{ranking.removed_proposals:,} ideas"
        print_remark(
            f"The ranking {ranking.id} ({ranking.title}) is kept, without {removed_text}: the other "
            f"{ranking.remaining_proposals:,} keep their ranks."
        )
    for job in erasure.jobs:
        if job.warning:
            print_remark(job.warning)


def _describe_contents(erasure: "Erasure") -> str:
    kinds = Counter(job.kind for job in erasure.jobs)
    parts = [f"{count:,} {kind}{'s' * (count > 1 and not kind.endswith('s'))}" for kind, count in kinds.items()]
    if erasure.rejected_rows:
        parts.append(f"{erasure.rejected_rows:,} refused row{'s' * (erasure.rejected_rows > 1)}")
    if erasure.batch:
        parts.append(f"the batch {erasure.batch}")
    return ", ".join(parts) or "nothing"
