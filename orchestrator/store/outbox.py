"""Tables of what is owed: `id`, `state`, `attempt`, `next_at` and `said`, with an index on what is pending."""

from typing import Generic, Literal, TypeVar

from orchestrator.outbox import Claimed, Delivered, DeliveryOutcome, GivenUp, RetryLater
from orchestrator.store.database import Database
from orchestrator.store.json_columns import storable_text

__all__ = ["PgOutbox", "claim_query"]

C = TypeVar("C", bound=Claimed)

# A claim holds until `next_at`; the number of the attempt is the token by which it is settled.
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
    UPDATE {table} SET state = $3, said = $4, next_at = statement_timestamp() + $5 * interval '1 second'
    WHERE id = $1 AND attempt = $2 AND state = 'pending' RETURNING id
"""


def claim_query(table: str, columns: str, *, receivers: str, to: str, among: str = "true") -> str:
    """Claims at most $1 rows for $2 seconds. `to`: which of the `receivers` a row (`owed`) goes to; `among`: which of
    the rows that are due may be taken."""
    return _CLAIM.format(table=table, columns=columns, receivers=receivers, to=to, among=among)


class PgOutbox(Generic[C]):
    """Implements `orchestrator.outbox.Outbox`."""

    def __init__(self, database: Database, table: str, taken: Literal["sent", "delivered"]) -> None:
        """`taken`: the state of a row that was taken by its receiver."""
        self._database = database
        self._settle = _SETTLE.format(table=table)
        self._taken = taken

    async def settle(self, claimed: C, outcome: DeliveryOutcome) -> bool:
        state = {Delivered: self._taken, RetryLater: "pending", GivenUp: "dead"}[type(outcome)]
        seconds = outcome.seconds if isinstance(outcome, RetryLater) else 0.0
        said = storable_text(outcome.detail)
        row = await self._database.fetch_one(self._settle, claimed.id, claimed.attempt, state, said, seconds)
        return row is not None
