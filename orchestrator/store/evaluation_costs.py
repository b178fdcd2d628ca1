"""The costs of a tenant's recent evaluations with a method, and the rate at which they finish."""

import datetime as dt
from collections.abc import Mapping

from assayer.models.llm import GpuSpeed
from orchestrator.jobs.estimates import EvaluationUsage, QueuePace
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Store

_PERIOD = dt.timedelta(days=30)
_MAX_EVALUATIONS = 200
"""Maximum number of evaluations examined; the newest are used."""

# Cached answers count as if they had been requested, because new ideas will not find theirs in the cache.
_SELECT_USAGE = """
    WITH ended AS (
        SELECT id, started_at FROM jobs
        WHERE tenant = $1 AND created_at >= statement_timestamp() - $3::interval
            AND kind = 'evaluation' AND state = 'succeeded' AND method = $2
        ORDER BY created_at DESC, id DESC LIMIT $4
    )
    SELECT count(ledger.id) AS calls,
           coalesce(sum(prompt_tokens), 0)::bigint AS prompt_tokens,
           coalesce(sum(cached_prompt_tokens), 0)::bigint AS cached_prompt_tokens,
           coalesce(sum(completion_tokens), 0)::bigint AS completion_tokens,
           CASE WHEN count(*) FILTER (WHERE cost_usd IS NULL AND prompt_tokens + completion_tokens > 0) = 0
                THEN coalesce(sum(cost_usd), 0) END AS cost_usd,
           CASE WHEN count(*) FILTER (WHERE speeds.read IS NULL AND prompt_tokens + completion_tokens > 0) = 0
                THEN coalesce(sum((prompt_tokens - cached_prompt_tokens) / speeds.read
                                  + completion_tokens / speeds.written), 0) / 3600 END AS gpu_hours
    FROM ended LEFT JOIN runs ON runs.job = ended.id
    LEFT JOIN ledger ON ledger.run_id = runs.run_id AND ledger.written_at >= ended.started_at
        AND ledger.at >= ended.started_at - interval '1 day'
    LEFT JOIN unnest($5::text[], $6::float8[], $7::float8[]) AS speeds(model, read, written) USING (model)
    GROUP BY ended.id ORDER BY ended.id
"""

_SELECT_PACE = """
    SELECT count(*) FILTER (WHERE finished_at IS NOT NULL) AS ended,
           coalesce(extract(epoch FROM max(finished_at) - min(finished_at)), 0)::float8 AS seconds,
           count(*) FILTER (WHERE finished_at IS NULL) AS waiting
    FROM jobs
    WHERE tenant = $1 AND kind = 'evaluation'
        AND (state = 'queued' OR state = 'running' OR finished_at >= statement_timestamp() - interval '1 hour')
        AND created_at >= statement_timestamp() - $3::interval
        AND method = $2
"""


class PgEvaluationCosts(Store):
    async def list_usage(
        self, tenant: TenantId, method: str, gpu_speeds: Mapping[str, GpuSpeed]
    ) -> list[EvaluationUsage]:
        """Return what the tenant's evaluations in the last 30 days used: those with a report, at most the latest 200.
        `gpu_speeds` is keyed by model."""
        speeds = gpu_speeds.values()
        columns = list(gpu_speeds), [speed.read for speed in speeds], [speed.written for speed in speeds]
        return await self._database.select(
            EvaluationUsage, _SELECT_USAGE, tenant, method, _PERIOD, _MAX_EVALUATIONS, *columns
        )

    async def measure_pace(self, tenant: TenantId, method: str) -> QueuePace:
        (pace,) = await self._database.select(QueuePace, _SELECT_PACE, tenant, method, _PERIOD)
        return pace
