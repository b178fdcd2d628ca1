"""Outbox tables for pending messages. They have the columns `id`, `state`, `attempt`, `next_at` and `last_result`."""

from typing import Literal

from orchestrator.mail.models import ClaimedMail
from orchestrator.outbox import Abandoned, Delivered, DeliveryOutcome, RetryLater
from orchestrator.store.database import Database, Store
from orchestrator.store.json_columns import replace_nul
from orchestrator.webhooks.models import ClaimedDelivery

# A claim is valid until `next_at`. The attempt's number is the token needed to settle it.
_CLAIM_ROWS = """
    WITH due AS (
        SELECT id FROM {table} WHERE state = 'pending' AND next_at <= statement_timestamp() AND {due_condition}
        ORDER BY next_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE {table} AS claimed_row SET attempt = attempt + 1, next_at = statement_timestamp() + $2 * interval '1 second'
    FROM due, {receivers} WHERE claimed_row.id = due.id AND {join_condition}
    RETURNING claimed_row.id, attempt, {columns}
"""
_SETTLE_ROW = """
    UPDATE {table} SET state = $3, last_result = $4, next_at = statement_timestamp() + $5 * interval '1 second'
    WHERE id = $1 AND attempt = $2 AND state = 'pending' RETURNING id
"""


def build_claim_query(
    table: str, columns: str, *, receivers: str, join_condition: str, due_condition: str = "true"
) -> str:
    """Return a query that claims at most $1 rows for $2 seconds. `join_condition` is the SQL condition that joins a row
    with its receiver in the tables `receivers`; `due_condition` is a further condition for the due rows."""
    return _CLAIM_ROWS.format(
        table=table, columns=columns, receivers=receivers, join_condition=join_condition, due_condition=due_condition
    )


class PgOutbox(Store):
    """Base class for stores of pending messages."""

    def __init__(self, database: Database, table: str, accepted_state: Literal["sent", "delivered"]) -> None:
        """Create the outbox. `accepted_state` is the state that a row gets once the message has been accepted."""
        super().__init__(database)
        self._settle = _SETTLE_ROW.format(table=table)
        self._accepted_state = accepted_state

    async def settle(self, claimed: ClaimedMail | ClaimedDelivery, outcome: DeliveryOutcome) -> bool:
        """Store a delivery's outcome. Return False if the claim is no longer valid."""
        state = {Delivered: self._accepted_state, RetryLater: "pending", Abandoned: "failed"}[type(outcome)]
        seconds = outcome.seconds if isinstance(outcome, RetryLater) else 0.0
        detail = replace_nul(outcome.detail)
        row = await self._database.fetch_one(self._settle, claimed.id, claimed.attempt, state, detail, seconds)
        return row is not None
