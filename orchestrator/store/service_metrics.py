"""Figures of the whole service for `/metrics`: queues, verdicts, calls by task, spending, what is owed."""

import datetime as dt
from typing import Literal, NamedTuple

from orchestrator.jobs.models import JobKind, JobState, Priority, TenantId
from orchestrator.store.database import Database

__all__ = [
    "FinishedJobCounts",
    "PendingDeliveries",
    "PgServiceMetrics",
    "QueuedJobs",
    "RunningJobs",
    "ServiceMetrics",
    "TaskCalls",
    "TenantSpending",
]

# One index lookup for each queue: the table itself holds every job there ever was.
_QUEUED = """
    SELECT tenants.id AS tenant, ranks.name AS priority, line.jobs,
           extract(epoch FROM greatest(statement_timestamp() - line.oldest, interval '0'))::float8 AS oldest_seconds
    FROM tenants CROSS JOIN (
        VALUES (0::smallint, 'interactive'), (1::smallint, 'batch'), (2::smallint, 'overnight')
    ) AS ranks (number, name)
    CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, min(ready_at) AS oldest FROM jobs
        WHERE tenant = tenants.id AND priority = ranks.number AND state = 'queued'
    ) AS line
    WHERE line.jobs > 0 ORDER BY 1, 2
"""

_RUNNING = """
    SELECT tenant, (ARRAY['interactive', 'batch', 'overnight'])[priority + 1] AS priority, count(*) AS jobs
    FROM jobs WHERE state = 'running' GROUP BY tenant, jobs.priority ORDER BY 1, 2
"""

_FINISHED = """
    SELECT tenant, kind, state, count(*) AS jobs, coalesce(sum(cost_usd), 0) AS cost_usd,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)::float8) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)::float8) AS p95
    FROM jobs WHERE finished_at >= statement_timestamp() - $1::interval GROUP BY tenant, kind, state ORDER BY 1, 2, 3
"""

_TASK_CALLS = """
    SELECT task, count(*) AS calls, count(*) FILTER (WHERE cached) AS cached,
           count(*) FILTER (WHERE outcome = 'failed') AS failed,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_seconds) FILTER (WHERE NOT cached) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_seconds) FILTER (WHERE NOT cached) AS p95
    FROM ledger WHERE at >= statement_timestamp() - $1::interval GROUP BY task ORDER BY task
"""

_SPENDING = """
    SELECT tenants.id AS tenant, monthly_usd, coalesce(sum(usd), 0) AS spent_usd
    FROM tenants LEFT JOIN spending
        ON tenant = tenants.id AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date
    GROUP BY tenants.id HAVING monthly_usd IS NOT NULL OR sum(usd) > 0 ORDER BY 1
"""

_PENDING = """
    SELECT count(*) AS deliveries,
           coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float8 AS oldest_seconds
    FROM {table} WHERE state = 'pending'
"""

# What is settled keeps in `next_at` when that was.
_MAILS_GIVEN_UP = """
    SELECT count(*) FROM mails WHERE state = 'dead' AND next_at >= statement_timestamp() - $1::interval
"""


class QueuedJobs(NamedTuple):
    tenant: TenantId
    priority: Priority
    jobs: int
    oldest_seconds: float
    """Since the job that waits longest could first have started."""


class RunningJobs(NamedTuple):
    tenant: TenantId
    priority: Priority
    jobs: int


class FinishedJobCounts(NamedTuple):
    tenant: TenantId
    kind: JobKind
    state: JobState
    jobs: int
    cost_usd: float
    p50: float
    """Seconds from acceptance to verdict."""
    p95: float


class TaskCalls(NamedTuple):
    """Calls of one task to language models."""

    task: str
    calls: int
    cached: int
    failed: int
    p50: float | None
    """Seconds a call; None when all came from the cache."""
    p95: float | None


class TenantSpending(NamedTuple):
    """Of a tenant in this calendar month, UTC."""

    tenant: TenantId
    monthly_usd: float | None
    """None: no limit is set."""
    spent_usd: float


class PendingDeliveries(NamedTuple):
    """Of an outbox: what is owed and not taken yet."""

    deliveries: int
    oldest_seconds: float


class ServiceMetrics(NamedTuple):
    queued: tuple[QueuedJobs, ...]
    running: tuple[RunningJobs, ...]
    finished: tuple[FinishedJobCounts, ...]
    """In the period."""
    tasks: tuple[TaskCalls, ...]
    """In the period."""
    spending: tuple[TenantSpending, ...] = ()
    pending_deliveries: PendingDeliveries = PendingDeliveries(0, 0.0)
    """To webhooks."""
    pending_mails: PendingDeliveries = PendingDeliveries(0, 0.0)
    mails_given_up: int = 0
    """In the period."""


class PgServiceMetrics:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def collect(
        self, period: dt.timedelta = dt.timedelta(hours=1), calls: dt.timedelta = dt.timedelta(minutes=5)
    ) -> ServiceMetrics:
        """`period` is for finished jobs, `calls` for calls of language models, of which a job makes hundreds."""
        return ServiceMetrics(
            tuple(QueuedJobs(**dict(row)) for row in await self._database.fetch(_QUEUED)),
            tuple(RunningJobs(**dict(row)) for row in await self._database.fetch(_RUNNING)),
            tuple(FinishedJobCounts(**dict(row)) for row in await self._database.fetch(_FINISHED, period)),
            tuple(TaskCalls(**dict(row)) for row in await self._database.fetch(_TASK_CALLS, calls)),
            tuple(TenantSpending(**dict(row)) for row in await self._database.fetch(_SPENDING)),
            await self._pending("deliveries"),
            await self._pending("mails"),
            (await self._database.fetch(_MAILS_GIVEN_UP, period))[0]["count"],
        )

    async def _pending(self, table: Literal["deliveries", "mails"]) -> PendingDeliveries:
        (row,) = await self._database.fetch(_PENDING.format(table=table))
        return PendingDeliveries(**dict(row))
