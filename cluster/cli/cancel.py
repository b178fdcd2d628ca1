"""`assayer cancel`: nothing more is spent on what has not ended."""

from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.options import WithProfile
from cluster.cli.service_client import kind_of, service
from cluster.cli.terminal import remark
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client import Client

__all__ = ["cancel"]


def cancel(
    ids: Annotated[list[str], typer.Argument(help="Ids of evaluations, batches, rankings, comparisons or rewards.")],
    profile: WithProfile = PROFILES[0],
) -> None:
    """Cancel evaluations, batches, rankings, comparisons or rewards; finished ones stay as they are."""
    for one in ids:
        kind_of(one, "evaluation", "batch", "ranking", "comparison", "rewards")
    with service(profile) as client:
        for one in ids:
            remark(f"{one}: {_cancelled(client, one)}.")


def _cancelled(client: "Client", one: str) -> str:
    match kind_of(one, "evaluation", "batch", "ranking", "comparison", "rewards"):
        case "evaluation":
            return client.cancel(one).state
        case "ranking":
            return client.cancel_ranking(one).state
        case "comparison":
            return client.cancel_comparison(one).state
        case "rewards":
            return client.rewards.cancel(one).state
        case "batch":
            states = client.cancel_batch(one).states
            return ", ".join(f"{count:,} {state}" for state, count in states.items())
