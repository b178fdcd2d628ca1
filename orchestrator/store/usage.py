"""A tenant's usage in a period: jobs, calls, tokens, cost, and what is left of the month's budget."""

import datetime as dt

from assayer.models import Absent, Frozen
from orchestrator.jobs.models import JobKind, JobState, TenantId
from orchestrator.store.database import Database
from orchestrator.store.ledger import SUMS

__all__ = ["JobCount", "MonthBudget", "PgUsage", "TenantUsage"]

_JOBS = """
    SELECT kind, state, count(*) AS jobs FROM jobs
    WHERE tenant = $1 AND created_at >= $2 AND created_at < $3 GROUP BY kind, state ORDER BY kind, state
"""

# A run that two jobs of the tenant share is counted once.
_CALLS = """
    WITH started AS (
        SELECT runs.run_id, min(started_at) AS started_at FROM jobs JOIN runs ON runs.job = jobs.id
        WHERE tenant = $1 AND started_at < $3 AND coalesce(finished_at, $3) >= $2
        GROUP BY runs.run_id
    )
    SELECT count(*) AS calls, count(*) FILTER (WHERE cached) AS cached,
           {sums}
    FROM started JOIN ledger USING (run_id)
    WHERE ledger.at >= greatest(started.started_at, $2) AND ledger.at < $3
""".replace("{sums}", SUMS)

_BUDGET = """
    SELECT monthly_usd,
           (SELECT coalesce(sum(usd), 0) FROM spending WHERE tenant = tenants.id
              AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date) AS spent_usd,
           (SELECT coalesce(sum(reserved_usd), 0) FROM jobs WHERE tenant = tenants.id AND state = 'running') AS reserved
    FROM tenants WHERE id = $1
"""


class JobCount(Frozen):
    kind: JobKind
    state: JobState
    jobs: int


class MonthBudget(Frozen):
    spent_this_month_usd: float
    """By jobs that have ended, and by ended attempts of those that have not."""
    reserved_usd: float
    """Of the month's budget, for running jobs."""
    monthly_usd: float | None

    @property
    def left_usd(self) -> float | None:
        """None: there is no limit."""
        if self.monthly_usd is None:
            return None
        return max(0.0, self.monthly_usd - self.spent_this_month_usd - self.reserved_usd)


class TenantUsage(MonthBudget):
    """Of jobs that are still stored; the budget's figures include deleted ones."""

    since: dt.datetime
    until: dt.datetime
    jobs: tuple[JobCount, ...]
    """Accepted in the period, by their current state."""
    calls: int
    """Calls of language models in the period, answers from the cache included."""
    cached: int
    prompt_tokens: int
    """Of calls that were sent, not answered from the cache."""
    completion_tokens: int
    cost_usd: float | Absent


class PgUsage:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def usage(self, tenant: TenantId, since: dt.datetime, until: dt.datetime) -> TenantUsage | None:
        """None when there is no such tenant."""
        budget = await self.month(tenant)
        calls = await self._database.fetch_one(_CALLS, tenant, since, until)
        if budget is None or calls is None:
            return None
        jobs = await self._database.fetch(_JOBS, tenant, since, until)
        values = dict(calls)
        if unpriced := values.pop("unpriced"):
            values["cost_usd"] = Absent(reason=f"The price of {unpriced} calls is not known.")
        return TenantUsage(
            since=since,
            until=until,
            jobs=tuple(JobCount(**dict(row)) for row in jobs),
            **budget.model_dump(),
            **values,
        )

    async def month(self, tenant: TenantId) -> MonthBudget | None:
        """What there is of this month's budget. None when there is no such tenant."""
        row = await self._database.fetch_one(_BUDGET, tenant)
        if row is None:
            return None
        spent, reserved = row["spent_usd"], row["reserved"]
        return MonthBudget(spent_this_month_usd=spent, reserved_usd=reserved, monthly_usd=row["monthly_usd"])
