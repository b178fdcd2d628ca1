"""Number and waiting time of the queued jobs that could start now, for autoscaling the evaluators."""

from typing import NamedTuple

from orchestrator.store.database import Store
from orchestrator.store.job_sql import SPENT_THIS_MONTH

_MAX_COUNTED_JOBS = 1_000
"""Maximum number of jobs counted per tenant and priority, because few deployments need more evaluators than for this
many."""

_SELECT_DEPTH = f"""
    SELECT ranks.number AS priority, coalesce(sum(least(queue.jobs, room.jobs)), 0)::bigint AS jobs,
           coalesce(max(extract(epoch FROM statement_timestamp() - queue.oldest)), 0)::float8 AS oldest_seconds
    FROM tenants CROSS JOIN (VALUES (0::smallint), (1::smallint)) AS ranks (number)
    CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, min(ready_at) AS oldest FROM (
            SELECT ready_at FROM jobs
            WHERE tenant = tenants.id AND priority = ranks.number AND state = 'queued'
              AND ready_at <= statement_timestamp()
            ORDER BY ready_at LIMIT $1
        ) AS heads
    ) AS queue
    CROSS JOIN LATERAL (
        SELECT coalesce(max_running - count(*), $1) AS jobs, coalesce(sum(reserved_usd), 0) AS reserved
        FROM jobs WHERE tenant = tenants.id AND state = 'running' AND priority <> 2
    ) AS room
    WHERE queue.jobs > 0 AND room.jobs > 0 AND (monthly_usd IS NULL OR monthly_usd > room.reserved + {SPENT_THIS_MONTH})
    GROUP BY ranks.number
"""


class WaitingJobs(NamedTuple):
    jobs: int = 0
    """Number of jobs that could start now. Excludes jobs that wait for a retry or are held back by their tenant's
    limits."""
    oldest_seconds: float = 0.0
    """Seconds for which the first of these jobs has been ready to start."""


class QueueDepth(NamedTuple):
    interactive: WaitingJobs = WaitingJobs()
    batch: WaitingJobs = WaitingJobs()


class PgQueueDepth(Store):
    async def measure(self) -> QueueDepth:
        rows = await self._database.fetch(_SELECT_DEPTH, _MAX_COUNTED_JOBS)
        waiting = {row["priority"]: WaitingJobs(row["jobs"], row["oldest_seconds"]) for row in rows}
        return QueueDepth(waiting.get(0, WaitingJobs()), waiting.get(1, WaitingJobs()))
