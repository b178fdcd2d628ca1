"""What a tenant's own evaluations by a method took lately, and how fast they ended."""

import datetime as dt

from orchestrator.jobs.estimates import Pace, TakenByEvaluation
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Database
from orchestrator.store.rows import from_row

__all__ = ["PgEvaluationCosts"]

_LOOKED_BACK = dt.timedelta(days=30)
_MOST = 200
"""Evaluations that are looked at, the newest first."""

# Answers from the cache count as if they had been sent: the next ideas will not find theirs there.
_TAKEN = """
    WITH ended AS (
        SELECT id, started_at FROM jobs
        WHERE tenant = $1 AND created_at >= statement_timestamp() - $3::interval
            AND kind = 'evaluation' AND state = 'done' AND request ->> 'method' = $2
        ORDER BY created_at DESC, id DESC LIMIT $4
    )
    SELECT count(ledger.id) AS calls,
           coalesce(sum(prompt_tokens), 0)::bigint AS prompt_tokens,
           coalesce(sum(completion_tokens), 0)::bigint AS completion_tokens,
           CASE WHEN count(*) FILTER (WHERE cost_usd IS NULL AND prompt_tokens + completion_tokens > 0) = 0
                THEN coalesce(sum(cost_usd), 0) END AS cost_usd
    FROM ended LEFT JOIN runs ON runs.job = ended.id
    LEFT JOIN ledger ON ledger.run_id = runs.run_id AND ledger.at >= ended.started_at
    GROUP BY ended.id ORDER BY ended.id
"""

_PACE = """
    SELECT count(*) FILTER (WHERE finished_at IS NOT NULL) AS ended,
           extract(epoch FROM max(finished_at) - min(finished_at))::float8 AS seconds,
           count(*) FILTER (WHERE finished_at IS NULL) AS waiting
    FROM jobs
    WHERE tenant = $1 AND kind = 'evaluation'
        AND (finished_at IS NULL OR finished_at >= statement_timestamp() - interval '1 hour')
        AND created_at >= statement_timestamp() - $3::interval
        AND request ->> 'method' = $2
"""


class PgEvaluationCosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def taken(self, tenant: TenantId, method: str) -> list[TakenByEvaluation]:
        """By the tenant's latest 200 evaluations of the last 30 days that gave a report."""
        rows = await self._database.fetch(_TAKEN, tenant, method, _LOOKED_BACK, _MOST)
        return [from_row(TakenByEvaluation, row) for row in rows]

    async def pace(self, tenant: TenantId, method: str) -> Pace:
        row = await self._database.fetch_one(_PACE, tenant, method, _LOOKED_BACK)
        return Pace() if row is None else Pace(ended=row["ended"], seconds=row["seconds"] or 0, waiting=row["waiting"])
