"""Tombstones, which record when and why a resource was deleted. They are written in the transaction that deletes it."""

import datetime as dt
from typing import Literal

from assayer.models import Frozen
from orchestrator.jobs.models import ResourceKind, TenantId
from orchestrator.store.database import Store

_SELECT_TOMBSTONE = "SELECT kind, deleted_at, why, proof FROM tombstones WHERE tenant = $1 AND id = $2 AND kind = $3"
_ROWS_PER_STATEMENT = 10_000
_DELETE_TOMBSTONES = """
    DELETE FROM tombstones WHERE (tenant, id) IN (
        SELECT tenant, id FROM tombstones WHERE deleted_at < $1 ORDER BY deleted_at LIMIT $2
    ) RETURNING id
"""


def build_tombstone_insert(kind: str, at: str, why: Literal["erased", "retention"], proof: str = "NULL") -> str:
    """Return a statement that writes a tombstone for each row in `deleted`, a common table expression with the columns
    `tenant` and `id`. All arguments except `why` are SQL expressions."""
    return f"""
        INSERT INTO tombstones (tenant, id, kind, deleted_at, why, proof)
        SELECT tenant, id, {kind}, {at}::timestamptz, '{why}', {proof}::bigint FROM deleted ON CONFLICT DO NOTHING
    """


class Tombstone(Frozen):
    """A record of a deletion. It contains neither the sender's name for the resource nor its title."""

    kind: ResourceKind
    deleted_at: dt.datetime
    why: Literal["erased", "retention"]
    """Reason for the deletion: an erasure request, or the end of the tenant's retention period."""
    proof: int | None
    """Number of the audit log entry that records the erasure."""


class PgTombstones(Store):
    async def get(self, tenant: TenantId, kind: ResourceKind, thing: str) -> Tombstone | None:
        """Return a resource's tombstone; None if the tenant has none for it."""
        return await self._database.select_one(Tombstone, _SELECT_TOMBSTONE, tenant, thing, kind)

    async def purge(self, before: dt.datetime) -> int:
        """Delete tombstones older than `before`, in chunks so that locks are short. Return their number."""
        return await self._database.execute_in_chunks(_DELETE_TOMBSTONES, before, _ROWS_PER_STATEMENT)
