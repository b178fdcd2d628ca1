"""Tenants and their plans: scheduling weight, limits, budget and retention period."""

from assayer_client.accounts import TenantResource
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import TenantId, TenantPlan
from orchestrator.store import retention
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Store, select_one
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, insert_once
from orchestrator.store.json_columns import replace_nul

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
