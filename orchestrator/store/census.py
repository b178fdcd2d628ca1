"""The state of the whole service in figures, for those who watch it."""

import datetime as dt
from typing import NamedTuple

from orchestrator.jobs.models import JobKind, JobState, Priority, TenantId
from orchestrator.store.database import Database

__all__ = ["Census", "Ended", "Money", "Owed", "PgCensus", "Queued", "Running", "Stage"]

# One look at the index of the queue for each line of it: the table itself holds all that was ever done.
_QUEUED = """
    SELECT tenants.id AS tenant, ranks.name AS priority, line.jobs,
           extract(epoch FROM greatest(statement_timestamp() - line.oldest, interval '0'))::float8 AS oldest_seconds
    FROM tenants CROSS JOIN (VALUES (0::smallint, 'interactive'), (1::smallint, 'batch')) AS ranks (number, name)
    CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, min(ready_at) AS oldest FROM jobs
        WHERE tenant = tenants.id AND priority = ranks.number AND state = 'queued'
    ) AS line
    WHERE line.jobs > 0 ORDER BY 1, 2
"""

_RUNNING = """
    SELECT tenant, CASE priority WHEN 0 THEN 'interactive' ELSE 'batch' END AS priority, count(*) AS jobs
    FROM jobs WHERE state = 'running' GROUP BY tenant, jobs.priority ORDER BY 1, 2
"""

_ENDED = """
    SELECT tenant, kind, state, count(*) AS jobs, coalesce(sum(cost_usd), 0) AS cost_usd,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)::float8) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)::float8) AS p95
    FROM jobs WHERE finished_at >= statement_timestamp() - $1::interval GROUP BY tenant, kind, state ORDER BY 1, 2, 3
"""

_STAGES = """
    SELECT task, count(*) AS calls, count(*) FILTER (WHERE cached) AS cached,
           count(*) FILTER (WHERE outcome = 'failed') AS failed,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_seconds) FILTER (WHERE NOT cached) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_seconds) FILTER (WHERE NOT cached) AS p95
    FROM ledger WHERE at >= statement_timestamp() - $1::interval GROUP BY task ORDER BY task
"""


_MONEY = """
    SELECT tenants.id AS tenant, monthly_usd, coalesce(sum(usd), 0) AS spent_usd
    FROM tenants LEFT JOIN spending
        ON tenant = tenants.id AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date
    GROUP BY tenants.id HAVING monthly_usd IS NOT NULL OR sum(usd) > 0 ORDER BY 1
"""

_OWED = """
    SELECT count(*) AS deliveries,
           coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float8 AS oldest_seconds
    FROM deliveries WHERE state = 'pending'
"""


class Queued(NamedTuple):
    tenant: TenantId
    priority: Priority
    jobs: int
    oldest_seconds: float
    """Since the one that waits longest could first have been begun."""


class Running(NamedTuple):
    tenant: TenantId
    priority: Priority
    jobs: int


class Ended(NamedTuple):
    tenant: TenantId
    kind: JobKind
    state: JobState
    jobs: int
    cost_usd: float
    p50: float
    """Seconds from acceptance to verdict."""
    p95: float


class Stage(NamedTuple):
    """Calls of one task to language models."""

    task: str
    calls: int
    cached: int
    failed: int
    p50: float | None
    """Seconds a call; None when all came from the cache."""
    p95: float | None


class Money(NamedTuple):
    """Of a tenant in this calendar month, UTC."""

    tenant: TenantId
    monthly_usd: float | None
    """None: no limit is set."""
    spent_usd: float


class Owed(NamedTuple):
    """To webhooks."""

    deliveries: int
    oldest_seconds: float


class Census(NamedTuple):
    queued: tuple[Queued, ...]
    running: tuple[Running, ...]
    ended: tuple[Ended, ...]
    """In the span."""
    stages: tuple[Stage, ...]
    """In the span."""
    money: tuple[Money, ...] = ()
    owed: Owed = Owed(0, 0.0)


class PgCensus:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(
        self, span: dt.timedelta = dt.timedelta(hours=1), calls: dt.timedelta = dt.timedelta(minutes=5)
    ) -> Census:
        """`span` for jobs that ended, `calls` for stages, of which there are some hundred a job."""
        return Census(
            tuple(Queued(**dict(row)) for row in await self._database.fetch(_QUEUED)),
            tuple(Running(**dict(row)) for row in await self._database.fetch(_RUNNING)),
            tuple(Ended(**dict(row)) for row in await self._database.fetch(_ENDED, span)),
            tuple(Stage(**dict(row)) for row in await self._database.fetch(_STAGES, calls)),
            tuple(Money(**dict(row)) for row in await self._database.fetch(_MONEY)),
            Owed(**dict((await self._database.fetch(_OWED))[0])),
        )
