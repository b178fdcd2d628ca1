"""A tenant's usage in a period (jobs, model requests, tokens and cost), and the state of this month's budget."""

import datetime as dt

from assayer.reports.wording import format_count
from assayer_client.accounts import MonthBudget, Usage, UsageCount
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Store
from orchestrator.store.job_sql import SPENT_THIS_MONTH
from orchestrator.store.ledger import LEDGER_SUMS
from orchestrator.store.rows import from_row

_SELECT_JOBS = """
    SELECT kind, state, count(*) AS jobs FROM jobs
    WHERE tenant = $1 AND created_at >= $2 AND created_at < $3 GROUP BY kind, state ORDER BY kind, state
"""

# A run shared by two of the tenant's jobs is counted once.
_SELECT_LLM_REQUESTS = """
    WITH started AS (
        SELECT runs.run_id, min(started_at) AS started_at FROM jobs JOIN runs ON runs.job = jobs.id
        WHERE tenant = $1 AND started_at < $3 AND coalesce(finished_at, $3) >= $2
        GROUP BY runs.run_id
    )
    SELECT count(*) AS llm_requests, count(*) FILTER (WHERE cached) AS cached_llm_requests,
           {sums}
    FROM started JOIN ledger USING (run_id)
    WHERE ledger.at >= greatest(started.started_at, $2) AND ledger.at < $3
""".replace("{sums}", LEDGER_SUMS)

_SELECT_BUDGET = f"""
    SELECT monthly_usd, {SPENT_THIS_MONTH} AS spent_this_month_usd,
           (SELECT coalesce(sum(reserved_usd), 0) FROM jobs WHERE tenant = tenants.id AND state = 'running')
           AS reserved_usd
    FROM tenants WHERE id = $1
"""


class PgUsage(Store):
    async def get_usage(self, tenant: TenantId, since: dt.datetime, until: dt.datetime) -> Usage | None:
        """Return a tenant's usage in a period; None if the tenant does not exist."""
        budget = await self.get_month_budget(tenant)
        if budget is None:
            return None
        (calls,) = await self._database.fetch(_SELECT_LLM_REQUESTS, tenant, since, until)
        jobs = await self._database.select(UsageCount, _SELECT_JOBS, tenant, since, until)
        unpriced = calls["unpriced"]
        return from_row(
            Usage,
            calls,
            tenant=tenant,
            since=since,
            until=until,
            jobs=tuple(jobs),
            cost_usd=None if unpriced else calls["cost_usd"],
            cost_absent=f"The price of {format_count(unpriced, 'model request')} is unknown." if unpriced else None,
            **budget.model_dump(),
        )

    async def get_month_budget(self, tenant: TenantId) -> MonthBudget | None:
        """Return the state of a tenant's budget for this month; None if the tenant does not exist."""
        return await self._database.select_one(MonthBudget, _SELECT_BUDGET, tenant)
