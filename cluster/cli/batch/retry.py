"""`assayer batch retry`: put jobs that ended without a result back in the queue."""

from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.batch.service_client import identify_kind, open_service_client
from cluster.cli.options import WithJson
from cluster.cli.terminal import print_json, print_remark

if TYPE_CHECKING:
    from assayer_client import Client


def retry(
    ids: Annotated[
        list[str],
        typer.Argument(help="Ids: ev_…, or bt_… to retry all rows without a result."),
    ],
    as_json: WithJson = False,
) -> None:
    """Retry failed and cancelled evaluations under their existing ids."""
    for identifier in ids:
        identify_kind(identifier, "evaluation", "batch")
    with open_service_client() as client:
        outcomes = {identifier: _retry(client, identifier) for identifier in ids}
    if as_json:
        print_json(outcomes)
    for item, outcome in outcomes.items() if not as_json else ():
        print_remark(f"{item}: {outcome}.")


def _retry(client: "Client", text: str) -> str:
    if identify_kind(text, "evaluation", "batch") == "evaluation":
        return client.evaluations.retry(text).state
    retried = client.batches.retry(text)
    not_retried = ""
    if retried.unreadable == 1:
        not_retried = "; 1 is unchanged because its document is no longer stored"
    elif retried.unreadable:
        not_retried = f"; {retried.unreadable:,} are unchanged because their documents are no longer stored"
    return f"{retried.retried:,} of {retried.batch.rows:,} rows are queued again{not_retried}"
