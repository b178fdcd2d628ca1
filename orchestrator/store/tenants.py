"""Tenants."""

import asyncpg

from orchestrator.jobs.models import TenantId
from orchestrator.jobs.tenancy import Tenant, TenantPlan
from orchestrator.store import retention
from orchestrator.store.database import Database
from orchestrator.store.documents import plain

__all__ = ["PgTenants"]

_COLUMNS = "id, name, weight, max_running, max_queued, monthly_usd, retention_days, created_at"

_CREATE = f"""
    INSERT INTO tenants (id, name, weight, max_running, max_queued, monthly_usd, retention_days)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants

_UPDATE = f"""
    UPDATE tenants SET name = $2, weight = $3, max_running = $4, max_queued = $5, monthly_usd = $6, retention_days = $7
    WHERE id = $1 RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants


class PgTenants:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: TenantId, plan: TenantPlan) -> Tenant | None:
        """None when another has this id. Sent again with the same plan it is the same tenant."""
        row = await self._database.fetch_one(_CREATE, tenant, *_values(plan))
        if row is not None:
            return _tenant(row)
        before = await self.get(tenant)
        return before if before is not None and TenantPlan(**before.model_dump(exclude=_OWN)) == plan else None

    async def get(self, tenant: TenantId) -> Tenant | None:
        query = f"SELECT {_COLUMNS} FROM tenants WHERE id = $1"  # noqa: S608 - put together from constants
        row = await self._database.fetch_one(query, tenant)
        return None if row is None else _tenant(row)

    async def list(self, *, after: TenantId | None = None, limit: int = 100) -> list[Tenant]:
        """By id."""
        query = f"SELECT {_COLUMNS} FROM tenants WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2"  # noqa: S608
        return [_tenant(row) for row in await self._database.fetch(query, after, limit)]

    async def update(self, tenant: TenantId, plan: TenantPlan) -> Tenant | None:
        """Takes the place of the old plan; jobs that run already go on."""
        row = await self._database.fetch_one(_UPDATE, tenant, *_values(plan))
        return None if row is None else _tenant(row)

    async def delete(self, tenant: TenantId) -> bool:
        """With keys, jobs, reports, batches and webhooks; work that runs stops at its next heartbeat."""
        return await retention.delete_tenant(self._database, tenant)


_OWN = {"id", "created_at"}


def _values(plan: TenantPlan) -> tuple[object, ...]:
    return (
        plain(plan.name),
        plan.weight,
        plan.max_running,
        plan.max_queued,
        plan.monthly_usd,
        plan.retention_days,
    )


def _tenant(row: asyncpg.Record) -> Tenant:
    return Tenant(**dict(row))
