"""Measures queries over many jobs, and leasing among them."""

import datetime as dt
import time
from collections.abc import Awaitable, Callable

from benchmarks.queue.crowd import build_job, build_tenant_id
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobId, TenantPlan
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, PgJobs, PgLeases, PgServiceMetrics, PgTenants, PgUsage
from orchestrator.store.json_columns import to_json_column

_TENANTS = 50
_REPEATS = 7

# Half of the jobs ended within the last two days, the others wait; the latest jobs have 100 calls each.
_JOBS = """
    INSERT INTO jobs (id, tenant, kind, priority, state, subject, request, run_id, cost_usd, last_event, created_at,
                      ready_at, started_at, finished_at)
    SELECT 'ev_' || n, 'tenant-' || n % $2, 'evaluation', (n % 10 > 0)::int,
           CASE WHEN ended THEN 'succeeded' ELSE 'queued' END, 'An idea', $3::jsonb,
           CASE WHEN ended THEN 'run_' || n END, CASE WHEN ended THEN 0.1 END, 1, at, at,
           CASE WHEN ended THEN at END, CASE WHEN ended THEN at + interval '5 minutes' END
    FROM (
        SELECT n, n % 2 = 0 AS ended, now() - n * interval '2 days' / $1::int AS at FROM generate_series(1, $1) AS n
    ) AS drawn
"""
_CALLS = """
    INSERT INTO ledger (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                        latency_seconds, attempts, faults, cached, outcome, error, at)
    SELECT gen_random_uuid(), id, id || call, 'task_' || call % 12, 1, 'small', 900, 100, 0.001, random() * 4, 1, '[]',
           false, 'answered', '', started_at + call * interval '3 seconds'
    FROM (SELECT run_id AS id, started_at FROM jobs WHERE run_id IS NOT NULL ORDER BY started_at DESC LIMIT $1) AS runs,
         generate_series(1, 100) AS call
    ORDER BY 16
"""


async def fill_queue(database: Database, jobs: int) -> None:
    for number in range(_TENANTS):
        await PgTenants(database).create(build_tenant_id(number), TenantPlan(name="tenant", max_queued=1_000_000))
    await database.fetch(_JOBS, jobs, _TENANTS, to_json_column(build_job("ev").request))
    await database.fetch("INSERT INTO runs (job, run_id) SELECT id, run_id FROM jobs WHERE run_id IS NOT NULL")
    await database.fetch(_CALLS, jobs // 50)
    await database.fetch("VACUUM ANALYZE")  # as autovacuum does


async def time_queries(database: Database) -> dict[str, float]:
    """Return the best of several times of each query, in milliseconds."""
    jobs, leases = PgJobs(database), PgLeases(database, QueueSettings())
    now = dt.datetime.now(dt.UTC)
    return {
        "census": await _time_best(PgServiceMetrics(database).collect),
        "usage of one tenant over a day": await _time_best(
            lambda: PgUsage(database).get_usage(build_tenant_id(1), now - dt.timedelta(days=1), now)
        ),
        "a page of a tenant's list": await _time_best(lambda: jobs.list(build_tenant_id(1))),
        "why a job waits": await _time_best(lambda: jobs.explain_waiting(build_tenant_id(1), JobId("ev_1"))),
        "lease of 16 places": await _time_best(lambda: leases.acquire("worker", FreeSlots(16))),
    }


async def _time_best(run_query: Callable[[], Awaitable[object]]) -> float:
    milliseconds = []
    for _ in range(_REPEATS):
        started_at = time.perf_counter()
        await run_query()
        milliseconds.append(1e3 * (time.perf_counter() - started_at))
    return min(milliseconds)
