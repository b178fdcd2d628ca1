"""Tenants and their plans: scheduling weight, limits, budget and retention period; and their use of the
service."""

import datetime as dt

from assayer.reports.wording import format_count
from assayer_client.accounts import MonthBudget, TenantResource, Usage, UsageCount
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import TenantId, TenantPlan
from orchestrator.store import retention
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Store, select_one
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, insert_once
from orchestrator.store.job_sql import SPENT_THIS_MONTH
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.ledger import LEDGER_SUMS
from orchestrator.store.rows import from_row

_COLUMNS = "id, name, weight, max_running, max_queued, monthly_usd, retention_days, created_at"

_INSERT_TENANT = f"""
    INSERT INTO tenants (id, name, weight, max_running, max_queued, monthly_usd, retention_days)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING RETURNING {_COLUMNS}
"""

_UPDATE_TENANT = f"""
    UPDATE tenants SET name = $2, weight = $3, max_running = $4, max_queued = $5, monthly_usd = $6, retention_days = $7
    WHERE id = $1 RETURNING {_COLUMNS}
"""

_SELECT_TENANT = f"SELECT {_COLUMNS} FROM tenants WHERE id = $1"

_NOT_IN_PLAN = {"id", "created_at"}


class PgTenants(Store):
    async def create(
        self, tenant: TenantId, plan: TenantPlan, record: IdempotencyRecord | None = None, by: TenantId | None = None
    ) -> TenantResource | RecordedResponse | None:
        """Create a tenant, or return the recorded response to the same request. Return None if a tenant with this id
        exists and has a different plan; creating one again with the same plan is not an error. `by` is the tenant that
        sent the request and owns `record`. Raises IdempotencyKeyReused if the idempotency key belongs to a different
        request."""

        async def insert_tenant(connection: Connection) -> TenantResource | None:
            stored_tenant = await select_one(connection, TenantResource, _INSERT_TENANT, tenant, *_make_columns(plan))
            stored_tenant = stored_tenant or await select_one(connection, TenantResource, _SELECT_TENANT, tenant)
            if stored_tenant is None:
                return None
            stored_plan = TenantPlan(**stored_tenant.model_dump(exclude=_NOT_IN_PLAN))
            return stored_tenant if stored_plan == plan else None

        return await insert_once(self._database, by or tenant, record, insert_tenant)

    async def get(self, tenant: TenantId) -> TenantResource | None:
        return await self._database.select_one(TenantResource, _SELECT_TENANT, tenant)

    async def list(self, *, after: TenantId | None = None, limit: int = 100) -> list[TenantResource]:
        """Return tenants sorted by id, beginning after the id `after`."""
        query = f"SELECT {_COLUMNS} FROM tenants WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2"
        return await self._database.select(TenantResource, query, after, limit)

    async def update(self, tenant: TenantId, plan: TenantPlan) -> TenantResource | None:
        """Replace a tenant's plan; running jobs continue. Return None if the tenant does not exist."""
        return await self._database.select_one(TenantResource, _UPDATE_TENANT, tenant, *_make_columns(plan))

    async def delete(self, tenant: TenantId, by: ActBy) -> bool:
        """Delete a tenant with its keys, jobs, reports, batches, webhooks and audit log content. Running jobs stop when
        they try to renew their leases. Return False if the tenant does not exist."""
        return await retention.delete_tenant(self._database, PgAuditLog(self._database), tenant, by)


def _make_columns(plan: TenantPlan) -> tuple[object, ...]:
    return replace_nul(plan.name), *plan.model_dump(exclude={"name"}).values()


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
