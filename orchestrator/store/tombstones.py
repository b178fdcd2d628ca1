"""Tombstones: that something was deleted, when and why. Whoever deletes writes them in the same transaction."""

import datetime as dt
from typing import Literal

from pydantic import ConfigDict

from assayer.models import Frozen
from orchestrator.jobs.models import TenantId, ThingKind
from orchestrator.store.database import Database
from orchestrator.store.rows import from_row

__all__ = ["PgTombstones", "Tombstone", "burial"]

_OF = "SELECT kind, deleted_at, why, proof FROM tombstones WHERE tenant = $1 AND id = $2 AND kind = $3"
_AT_ONCE = 10_000
_FORGET = """
    DELETE FROM tombstones WHERE (tenant, id) IN (
        SELECT tenant, id FROM tombstones WHERE deleted_at < $1 ORDER BY deleted_at LIMIT $2
    ) RETURNING id
"""


def burial(gone: str, kind: str, at: str, why: Literal["erased", "retention"], proof: str = "NULL") -> str:
    """The statement that buries the rows of `gone`, which has a tenant and an id. All are SQL."""
    return f"""
        INSERT INTO tombstones (tenant, id, kind, deleted_at, why, proof)
        SELECT tenant, id, {kind}, {at}::timestamptz, '{why}', {proof}::bigint FROM {gone} ON CONFLICT DO NOTHING
    """  # noqa: S608 - put together from constants


class Tombstone(Frozen):
    """Names nobody: not the sender's name for it, and not its title."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    kind: ThingKind
    deleted_at: dt.datetime
    why: Literal["erased", "retention"]
    """Somebody asked for it; or the tenant's time of retention was over."""
    proof: int | None
    """Of what was erased: the number of the entry of the audit log that says so."""


class PgTombstones:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, tenant: TenantId, kind: ThingKind, thing: str) -> Tombstone | None:
        """None: this tenant has deleted no such thing, as far as is remembered."""
        row = await self._database.fetch_one(_OF, tenant, thing, kind)
        return None if row is None else from_row(Tombstone, row)

    async def purge(self, before: dt.datetime) -> int:
        """Forgets what was deleted before that, some at a time, so that locks are short. How many."""
        forgotten = 0
        while some := await self._database.fetch(_FORGET, before, _AT_ONCE):
            forgotten += len(some)
        return forgotten
