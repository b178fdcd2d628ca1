"""`assayer batch cancel`: stop unfinished jobs, so that they cause no further cost."""

from typing import TYPE_CHECKING

from cluster.cli.batch.job_wording import describe_counts
from cluster.cli.batch.service_client import KINDS, get_job_operations, identify_kind, open_service_client
from cluster.cli.options import JobIds, WithJson
from cluster.cli.terminal import print_json, print_remark

if TYPE_CHECKING:
    from assayer_client import Client


def cancel(ids: JobIds, as_json: WithJson = False) -> None:
    """Cancel evaluations and other jobs by id; finished jobs are left unchanged."""
    for identifier in ids:
        identify_kind(identifier, *KINDS)
    with open_service_client() as client:
        outcomes = {identifier: _cancel(client, identifier) for identifier in ids}
    if as_json:
        print_json(outcomes)
    for item, outcome in outcomes.items() if not as_json else ():
        print_remark(f"{item}: {outcome}.")


def _cancel(client: "Client", text: str) -> str:
    kind = identify_kind(text, *KINDS)
    if kind != "batch":
        return get_job_operations(client, kind).cancel(text).state
    states = client.batches.cancel(text).states
    return ", ".join(describe_counts(states.items()))
