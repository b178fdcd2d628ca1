"""Outbox tables for pending messages. They have the columns `id`, `state`, `attempt`, `next_at` and `last_result`."""

from typing import Literal

from orchestrator.mail.models import ClaimedMail
from orchestrator.outbox import Abandoned, Delivered, DeliveryOutcome, RetryLater
from orchestrator.store.database import Database, Store
from orchestrator.store.json_columns import storable_text
from orchestrator.webhooks.models import ClaimedDelivery

# A claim is valid until `next_at`. The attempt's number is the token needed to settle it.
_CLAIM = """
    WITH due AS (
        SELECT id FROM {table} WHERE state = 'pending' AND next_at <= statement_timestamp() AND {among}
        ORDER BY next_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE {table} AS owed SET attempt = attempt + 1, next_at = statement_timestamp() + $2 * interval '1 second'
    FROM due, {receivers} WHERE owed.id = due.id AND {to}
    RETURNING owed.id, attempt, {columns}
"""
_SETTLE = """
    UPDATE {table} SET state = $3, last_result = $4, next_at = statement_timestamp() + $5 * interval '1 second'
    WHERE id = $1 AND attempt = $2 AND state = 'pending' RETURNING id
"""


def claim_query(table: str, columns: str, *, receivers: str, to: str, among: str = "true") -> str:
    """Return a query that claims at most $1 rows for $2 seconds. `to` is the SQL condition that joins a row with its
    receiver in the tables `receivers`; `among` is a further condition for the due rows."""
    return _CLAIM.format(table=table, columns=columns, receivers=receivers, to=to, among=among)


class PgOutbox(Store):
    """Base class for stores of pending messages."""

    def __init__(self, database: Database, table: str, taken: Literal["sent", "delivered"]) -> None:
        """Create the outbox. `taken` is the state that a row gets once the message has been accepted."""
        super().__init__(database)
        self._settle = _SETTLE.format(table=table)
        self._taken = taken

    async def settle(self, claimed: ClaimedMail | ClaimedDelivery, outcome: DeliveryOutcome) -> bool:
        """Store a delivery's outcome. Return False if the claim is no longer valid."""
        state = {Delivered: self._taken, RetryLater: "pending", Abandoned: "failed"}[type(outcome)]
        seconds = outcome.seconds if isinstance(outcome, RetryLater) else 0.0
        detail = storable_text(outcome.detail)
        row = await self._database.fetch_one(self._settle, claimed.id, claimed.attempt, state, detail, seconds)
        return row is not None
