"""Service-wide figures for `/metrics`: queues, verdicts, model requests by task, spending, and pending messages."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from orchestrator.store.database import Store
from orchestrator.store.job_sql import PRIORITIES, PRIORITY

ServiceMetrics: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of figures with labels, by the names in `_QUERIES`."""

_COUNT_PENDING = """
    SELECT count(*) AS messages,
           coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float8 AS oldest_seconds
    FROM {table} WHERE state = 'pending'
"""
_QUERIES = {
    # One index lookup for each queue, because the table holds all jobs.
    "queued": f"""
        SELECT tenants.id AS tenant, (ARRAY{list(PRIORITIES)})[ranks.number + 1] AS priority, queue.jobs,
               extract(epoch FROM greatest(statement_timestamp() - queue.oldest, interval '0'))::float8
               AS oldest_seconds
        FROM tenants CROSS JOIN generate_series(0, 2) AS ranks (number) CROSS JOIN LATERAL (
            SELECT count(*) AS jobs, min(ready_at) AS oldest FROM jobs
            WHERE tenant = tenants.id AND priority = ranks.number AND state = 'queued'
        ) AS queue
        WHERE queue.jobs > 0 ORDER BY 1, 2
    """,
    "running": f"""
        SELECT tenant, {PRIORITY} AS priority, count(*) AS jobs
        FROM jobs WHERE state = 'running' GROUP BY tenant, jobs.priority ORDER BY 1, 2
    """,
    "finished": """
        SELECT tenant, kind, state, count(*) AS jobs, coalesce(sum(cost_usd), 0) AS cost_usd,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)::float8) AS p50,
               percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)::float8)
               AS p95,
               CASE WHEN state = 'failed' THEN count(*) FILTER (WHERE problem ->> 'type' = 'gave-up') END AS exhausted
        FROM jobs WHERE finished_at >= statement_timestamp() - $1::interval
        GROUP BY tenant, kind, state ORDER BY 1, 2, 3
    """,
    "tasks": """
        SELECT task, count(*) AS calls, count(*) FILTER (WHERE cached) AS cached,
               count(*) FILTER (WHERE outcome = 'failed') AS failed,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_seconds) FILTER (WHERE NOT cached) AS p50,
               percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_seconds) FILTER (WHERE NOT cached) AS p95
        FROM ledger WHERE at >= statement_timestamp() - $1::interval GROUP BY task ORDER BY task
    """,
    "spending": """
        SELECT tenants.id AS tenant, monthly_usd, coalesce(sum(usd), 0) AS spent_usd
        FROM tenants LEFT JOIN spending
            ON tenant = tenants.id AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date
        GROUP BY tenants.id HAVING monthly_usd IS NOT NULL OR sum(usd) > 0 ORDER BY 1
    """,
    "deliveries": _COUNT_PENDING.format(table="deliveries"),
    "mails": _COUNT_PENDING.format(table="mails"),
    # `next_at` of a settled mail is the time at which it was settled.
    "failed_mails": """
        SELECT count(*) AS messages FROM mails
        WHERE state = 'failed' AND next_at >= statement_timestamp() - $1::interval
    """,
}
_PERIODS = {
    "finished": dt.timedelta(hours=1),
    "tasks": dt.timedelta(minutes=5),  # a job makes hundreds of calls
    "failed_mails": dt.timedelta(hours=1),
}


class PgServiceMetrics(Store):
    async def collect(self) -> ServiceMetrics:
        return {
            name: [
                dict(row) for row in await self._database.fetch(query, *([_PERIODS[name]] if name in _PERIODS else ()))
            ]
            for name, query in _QUERIES.items()
        }
