"""How much waits in the queue that could begin now, and for how long: what the number of evaluators follows."""

from typing import NamedTuple

from orchestrator.store.database import Database

__all__ = ["PgQueueDepth", "QueueDepth", "WaitingJobs"]

_COUNTED = 1_000
"""Of each tenant's jobs of one priority, at most: more evaluators than these need there will hardly be."""

_DEPTH = """
    SELECT ranks.number AS priority, coalesce(sum(least(line.jobs, room.jobs)), 0)::bigint AS jobs,
           coalesce(max(extract(epoch FROM statement_timestamp() - line.oldest)), 0)::float8 AS oldest_seconds
    FROM tenants CROSS JOIN (VALUES (0::smallint), (1::smallint)) AS ranks (number)
    CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, min(ready_at) AS oldest FROM (
            SELECT ready_at FROM jobs
            WHERE tenant = tenants.id AND priority = ranks.number AND state = 'queued'
              AND ready_at <= statement_timestamp()
            ORDER BY ready_at LIMIT $1
        ) AS heads
    ) AS line
    CROSS JOIN LATERAL (
        SELECT coalesce(max_running - count(*), $1) AS jobs, coalesce(sum(reserved_usd), 0) AS reserved
        FROM jobs WHERE tenant = tenants.id AND state = 'running' AND priority <> 2
    ) AS room
    WHERE line.jobs > 0 AND room.jobs > 0 AND (monthly_usd IS NULL OR monthly_usd > room.reserved + (
        SELECT coalesce(sum(usd), 0) FROM spending
        WHERE tenant = tenants.id AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date
    ))
    GROUP BY ranks.number
"""


class WaitingJobs(NamedTuple):
    jobs: int = 0
    """That could begin now: not those put off, nor those that their tenant's limits hold back."""
    oldest_seconds: float = 0.0
    """Since the first of them could have begun."""


class QueueDepth(NamedTuple):
    interactive: WaitingJobs = WaitingJobs()
    batch: WaitingJobs = WaitingJobs()


class PgQueueDepth:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def measure(self) -> QueueDepth:
        rows = await self._database.fetch(_DEPTH, _COUNTED)
        waiting = {row["priority"]: WaitingJobs(row["jobs"], row["oldest_seconds"]) for row in rows}
        return QueueDepth(waiting.get(0, WaitingJobs()), waiting.get(1, WaitingJobs()))
