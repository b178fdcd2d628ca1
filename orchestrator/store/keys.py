"""API keys: made, listed, revoked, and checked with every request."""

import datetime as dt

import asyncpg

from orchestrator.jobs.idempotency import Once, Replay
from orchestrator.jobs.models import KeyId, TenantId
from orchestrator.jobs.tenancy import ApiKey, Caller, DrawnKey, KeyPlan, Rate, Refused, hash_of
from orchestrator.settings import KeySettings
from orchestrator.store.database import Connection, Database
from orchestrator.store.documents import plain
from orchestrator.store.once import done_once

__all__ = ["PgKeys"]

_COLUMNS = "id, tenant, name, scopes, requests_per_minute, created_at, expires_at, revoked_at"

_CREATE = f"""
    INSERT INTO api_keys (id, tenant, name, hash, scopes, requests_per_minute, expires_at)
    SELECT $1, tenants.id, $3, $4, $5, $6, $7 FROM tenants WHERE tenants.id = $2
    ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE api_keys.hash = excluded.hash
    RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants

# The generic cell rate algorithm: `full_at` is when the key could again ask as much at once as ever. A request puts
# it off by `each` second and is refused where it would lie further away than `burst`.
_AUTHENTICATE = """
    WITH known AS (
        SELECT *, coalesce(requests_per_minute, $3) AS per_minute,
               60.0::float8 / coalesce(requests_per_minute, $3) * interval '1 second' AS each,
               greatest($4::float8, 60.0::float8 / coalesce(requests_per_minute, $3)) * interval '1 second' AS burst
        FROM api_keys WHERE hash = $1
    ), turn AS (
        INSERT INTO key_rates AS rate (key, full_at)
        SELECT id, $2::timestamptz + each FROM known
        WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
        ON CONFLICT (key) DO UPDATE SET full_at = greatest(rate.full_at, $2) + (SELECT each FROM known)
        WHERE greatest(rate.full_at, $2) + (SELECT each - burst FROM known) <= $2
        RETURNING full_at
    )
    SELECT id, tenant, scopes, per_minute, revoked_at IS NOT NULL AS revoked, expires_at <= $2 AS expired,
           extract(epoch FROM each)::float8 AS each, extract(epoch FROM burst)::float8 AS burst,
           (SELECT extract(epoch FROM full_at - $2)::float8 FROM turn) AS backlog,
           (SELECT extract(epoch FROM full_at - $2)::float8 FROM key_rates WHERE key = known.id) AS backlog_before
    FROM known
"""


class PgKeys:
    """Keeps hashes only; a key itself is neither stored nor logged."""

    def __init__(self, database: Database, settings: KeySettings | None = None) -> None:
        self._database = database
        self._settings = settings or KeySettings()

    async def create(
        self, tenant: TenantId, plan: KeyPlan, drawn: DrawnKey, once: Once | None = None, by: TenantId | None = None
    ) -> ApiKey | Replay | None:
        """None when there is no such tenant. `once` is kept among the requests of the tenant `by`. Raises KeyReused."""
        values = (
            drawn.id,
            tenant,
            plain(plan.name),
            hash_of(drawn.secret),
            sorted(plan.scopes),
            plan.requests_per_minute,
            plan.expires_at,
        )

        async def work(connection: Connection) -> ApiKey | None:
            row = await connection.fetchrow(_CREATE, *values)
            return None if row is None else _key(row)

        return await done_once(self._database, by or tenant, once, work)

    async def list(self, tenant: TenantId) -> list[ApiKey]:
        """The newest first, revoked ones included."""
        query = f"SELECT {_COLUMNS} FROM api_keys WHERE tenant = $1 ORDER BY created_at DESC, id"  # noqa: S608
        return [_key(row) for row in await self._database.fetch(query, tenant)]

    async def get(self, tenant: TenantId, key: KeyId) -> ApiKey | None:
        query = f"SELECT {_COLUMNS} FROM api_keys WHERE tenant = $1 AND id = $2"  # noqa: S608 - of constants
        row = await self._database.fetch_one(query, tenant, key)
        return None if row is None else _key(row)

    async def revoke(self, tenant: TenantId, key: KeyId, now: dt.datetime) -> ApiKey | None:
        """Holds from the next request on. A key revoked before keeps its time."""
        query = f"""
            UPDATE api_keys SET revoked_at = coalesce(revoked_at, $3) WHERE tenant = $1 AND id = $2
            RETURNING {_COLUMNS}
        """  # noqa: S608 - put together from constants
        row = await self._database.fetch_one(query, tenant, key, now)
        return None if row is None else _key(row)

    async def authenticate(self, secret: str, now: dt.datetime) -> Caller | Refused:
        """One statement, which also takes one turn of the key's rate."""
        hashed = hash_of(secret)
        if hashed is None:
            return Refused("unknown")
        settings = self._settings
        row = await self._database.fetch_one(
            _AUTHENTICATE, hashed, now, settings.requests_per_minute, settings.burst_seconds
        )
        return Refused("unknown") if row is None else _admission(row)


def _admission(row: asyncpg.Record) -> Caller | Refused:
    tenant, key = TenantId(row["tenant"]), KeyId(row["id"])
    if row["revoked"] or row["expired"]:
        return Refused("revoked" if row["revoked"] else "expired", tenant=tenant, key=key)
    taken = row["backlog"] is not None
    # A neighbour may have taken a turn since this statement began: then the truth is a turn or so later.
    backlog: float = row["backlog"] if taken else max(row["backlog_before"] or 0.0, row["burst"])
    left = max(0, int((row["burst"] - backlog) / row["each"] + 1e-6))
    rate = Rate(row["per_minute"], left, max(0.0, backlog))
    if not taken:
        return Refused("rate", backlog + row["each"] - row["burst"], rate, tenant, key)
    return Caller(tenant, key, frozenset(row["scopes"]), rate)


def _key(row: asyncpg.Record) -> ApiKey:
    return ApiKey(**dict(row) | {"scopes": frozenset(row["scopes"])})
