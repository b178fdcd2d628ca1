"""`assayer retry`: what ended without a result goes back to the queue."""

from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.job_wording import state_in_words
from cluster.cli.options import WithProfile
from cluster.cli.service_client import kind_of, service
from cluster.cli.terminal import remark
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client import Client

__all__ = ["retry"]


def retry(
    ids: Annotated[list[str], typer.Argument(help="Ids: ev_… or bt_… (all of its rows without a result).")],
    profile: WithProfile = PROFILES[0],
) -> None:
    """Evaluate again what failed, was given up or was cancelled, under the same id."""
    for one in ids:
        kind_of(one, "evaluation", "batch")
    with service(profile) as client:
        for one in ids:
            remark(f"{one}: {_retried(client, one)}.")


def _retried(client: "Client", one: str) -> str:
    if kind_of(one, "evaluation", "batch") == "evaluation":
        return state_in_words(client.retry(one).state)
    found = client.retry_batch(one)
    left = ""
    if found.unreadable == 1:
        left = "; 1 stays as it is, as its document is kept no longer"
    elif found.unreadable:
        left = f"; {found.unreadable:,} stay as they are, as their documents are kept no longer"
    return f"{found.retried:,} of {found.batch.rows:,} rows wait again{left}"
