"""`assayer cancel`: stop unfinished jobs, so that they cause no further cost."""

from typing import TYPE_CHECKING

from cluster.cli.job_wording import counts_in_words
from cluster.cli.options import JobIds, WithProfile
from cluster.cli.service_client import KINDS, job_resource, kind_of, service
from cluster.cli.terminal import remark

if TYPE_CHECKING:
    from assayer_client import Client


def cancel(
    ids: JobIds,
    profile: WithProfile = "laptop",
) -> None:
    """Cancel evaluations and other jobs by id; finished jobs are unchanged."""
    for item in ids:
        kind_of(item, *KINDS)
    with service(profile) as client:
        for item in ids:
            remark(f"{item}: {_cancelled(client, item)}.")


def _cancelled(client: "Client", text: str) -> str:
    kind = kind_of(text, *KINDS)
    if kind != "batch":
        return job_resource(client, kind).cancel(text).state
    states = client.batches.cancel(text).states
    return ", ".join(counts_in_words(states.items()))
