"""`assayer cancel`: nothing more is spent on what has not ended."""

from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.job_wording import counts_in_words, state_in_words
from cluster.cli.options import WithProfile
from cluster.cli.service_client import KINDS, item_jobs, kind_of, service
from cluster.cli.terminal import remark
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client import Client

__all__ = ["cancel"]


def cancel(
    ids: Annotated[
        list[str],
        typer.Argument(help="Ids: ev_…, bt_…, rk_…, cp_…, rw_…, cu_…, pr_… or sc_…."),
    ],
    profile: WithProfile = PROFILES[0],
) -> None:
    """Cancel evaluations and all else that has an id; finished ones stay as they are."""
    for one in ids:
        kind_of(one, *KINDS)
    with service(profile) as client:
        for one in ids:
            remark(f"{one}: {_cancelled(client, one)}.")


def _cancelled(client: "Client", one: str) -> str:
    match kind_of(one, *KINDS):
        case "evaluation":
            return state_in_words(client.cancel(one).state)
        case "ranking":
            return state_in_words(client.cancel_ranking(one).state)
        case "comparison":
            return state_in_words(client.cancel_comparison(one).state)
        case "rewards" | "curation" | "proposal" | "score" as kind:
            return state_in_words(item_jobs(client, kind).cancel(one).state)
        case "batch":
            states = client.cancel_batch(one).states
            return ", ".join(counts_in_words(states.items()))
