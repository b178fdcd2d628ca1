"""Storage of API keys: create, list and revoke them, and authenticate requests, which count against the key's rate
limit.

The tenant's audit log records who created and who revoked each key, but never the secret."""

import datetime as dt
from typing import Any

import asyncpg

from assayer_client.accounts import Scope
from orchestrator.access.api_keys import (
    ApiKey,
    Caller,
    GeneratedKey,
    KeyPlan,
    KeyRate,
    KeyRejection,
    format_key_name,
    hash_key,
)
from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.access.roles import Role
from orchestrator.access.sessions import get_role_scopes
from orchestrator.jobs.models import KeyId, TenantId
from orchestrator.settings import ApiKeySettings
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database, Store, in_transaction, select_one
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, insert_once
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.rows import from_row

_COLUMNS = "id, tenant, name, scopes, requests_per_minute, created_at, expires_at, revoked_at, member"

_INSERT_KEY = f"""
    INSERT INTO api_keys (id, tenant, name, hash, scopes, requests_per_minute, expires_at, member)
    SELECT $1, tenants.id, $3, $4, $5, $6, $7, $8 FROM tenants WHERE tenants.id = $2
    ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE api_keys.hash = excluded.hash
    RETURNING {_COLUMNS}, xmax = 0 AS is_new
"""
_SELECT_KEY = f"SELECT {_COLUMNS} FROM api_keys WHERE tenant = $1 AND id = $2"
_REVOKE_KEY = f"""
    UPDATE api_keys SET revoked_at = $3 WHERE tenant = $1 AND id = $2 AND revoked_at IS NULL RETURNING {_COLUMNS}
"""

# The generic cell rate algorithm (GCRA). `full_at` is when the full burst is available again. A request postpones it by
# `each` seconds, and is refused if that would exceed `burst` seconds from now. A second limit covers all of the
# tenant's keys, because a tenant may create any number of them. The database server's clock is used, because replicas'
# clocks differ.
_AUTHENTICATE = """
    WITH known AS (
        SELECT api_keys.*, coalesce(person.role, 'machine') AS role, person.name AS member_name,
               person.removed_at IS NOT NULL AS removed, coalesce(requests_per_minute, $3) AS per_minute,
               60.0::float8 / coalesce(requests_per_minute, $3) * interval '1 second' AS each,
               greatest($4::float8, 60.0::float8 / coalesce(requests_per_minute, $3)) * interval '1 second' AS burst,
               60.0::float8 / $5 * interval '1 second' AS tenant_each,
               greatest($4::float8, 60.0::float8 / $5) * interval '1 second' AS tenant_burst
        FROM api_keys LEFT JOIN members AS person ON person.id = api_keys.member WHERE hash = $1
    ), counted AS (
        INSERT INTO request_rates AS rate (subject, full_at)
        SELECT 'key ' || id, now() + each FROM known
        WHERE revoked_at IS NULL AND NOT removed AND (expires_at IS NULL OR expires_at > $2)
        ON CONFLICT (subject) DO UPDATE SET full_at = greatest(rate.full_at, now()) + (SELECT each FROM known)
        WHERE greatest(rate.full_at, now()) + (SELECT each - burst FROM known) <= now()
        RETURNING full_at
    ), counted_together AS (
        INSERT INTO request_rates AS rate (subject, full_at)
        SELECT 'tenant ' || tenant, now() + tenant_each FROM known WHERE EXISTS (SELECT FROM counted)
        ON CONFLICT (subject) DO UPDATE SET full_at = greatest(rate.full_at, now()) + (SELECT tenant_each FROM known)
        WHERE greatest(rate.full_at, now()) + (SELECT tenant_each - tenant_burst FROM known) <= now()
        RETURNING full_at
    )
    SELECT id, tenant, name, scopes, role, member_name, member, per_minute,
           revoked_at IS NOT NULL OR removed AS revoked, expires_at <= $2 AS expired,
           extract(epoch FROM each)::float8 AS each, extract(epoch FROM burst)::float8 AS burst,
           (SELECT extract(epoch FROM full_at - now())::float8 FROM counted) AS backlog,
           (SELECT extract(epoch FROM full_at - now())::float8
            FROM request_rates WHERE subject = 'key ' || known.id) AS backlog_before,
           EXISTS (SELECT FROM counted_together) AS within_tenant_rate,
           (SELECT extract(epoch FROM greatest(full_at - now() + tenant_each - tenant_burst, tenant_each))::float8
            FROM request_rates WHERE subject = 'tenant ' || known.tenant) AS tenant_wait
    FROM known
"""


class PgKeys(Store):
    """Store of the hashes of API keys; the keys themselves are neither stored nor logged."""

    def __init__(self, database: Database, settings: ApiKeySettings | None = None) -> None:
        super().__init__(database)
        self._log = PgAuditLog(database)
        self._settings = settings or ApiKeySettings()

    async def create(
        self,
        tenant: TenantId,
        plan: KeyPlan,
        key: GeneratedKey,
        record: IdempotencyRecord | None = None,
        by: TenantId | None = None,
        *,
        actor: Actor | None = None,
    ) -> ApiKey | RecordedResponse | None:
        """Create a key, or return the recorded response to the same request; None if the tenant does not exist. `by` is
        the tenant that sent the request and owns `record`; by default it is `tenant`. `actor` is recorded in the audit
        log; it is None for the service's initial key. Raises IdempotencyKeyReused if the idempotency key belongs to a
        different request."""
        values = (
            key.id,
            tenant,
            replace_nul(plan.name),
            hash_key(key.secret),
            sorted(plan.scopes),
            plan.requests_per_minute,
            plan.expires_at,
            plan.member,
        )

        async def insert_key(connection: Connection) -> ApiKey | None:
            row = await connection.fetchrow(_INSERT_KEY, *values)
            if row is None:
                return None
            created_key = from_row(ApiKey, row)
            if actor is not None and row["is_new"]:
                expires_at = created_key.expires_at and created_key.expires_at.isoformat()
                content = _make_audit_content(created_key) | {"expires_at": expires_at}
                await self._log.append(
                    connection, tenant, ActBy(actor, created_key.created_at), "key made", created_key.id, **content
                )
            return created_key

        return await insert_once(self._database, by or tenant, record, insert_key)

    async def list(self, tenant: TenantId) -> list[ApiKey]:
        """Return the tenant's keys, newest first, including revoked ones."""
        query = f"SELECT {_COLUMNS} FROM api_keys WHERE tenant = $1 ORDER BY created_at DESC, id"
        return await self._database.select(ApiKey, query, tenant)

    async def get(self, tenant: TenantId, key: KeyId) -> ApiKey | None:
        return await self._database.select_one(ApiKey, _SELECT_KEY, tenant, key)

    @in_transaction
    async def revoke(self, connection: Connection, tenant: TenantId, key: KeyId, by: ActBy) -> ApiKey | None:
        """Revoke a key with immediate effect, and return it; None if it does not exist. A key that was already revoked
        keeps its revocation time."""
        revoked = await select_one(connection, ApiKey, _REVOKE_KEY, tenant, key, by.at)
        if revoked is None:
            return await select_one(connection, ApiKey, _SELECT_KEY, tenant, key)
        await self._log.append(connection, tenant, by, "key revoked", key, **_make_audit_content(revoked))
        return revoked

    async def authenticate(self, secret: str, now: dt.datetime) -> Caller | KeyRejection:
        """Authenticate a request by its key, in one statement that also counts the request against the rate
        limits of the key and of its tenant."""
        hashed = hash_key(secret)
        if hashed is None:
            return KeyRejection("unknown")
        settings = self._settings
        row = await self._database.fetch_one(
            _AUTHENTICATE,
            hashed,
            now,
            settings.requests_per_minute,
            settings.burst_seconds,
            settings.requests_per_minute_per_tenant,
        )
        return KeyRejection("unknown") if row is None else _to_caller(row)


def _to_caller(row: asyncpg.Record) -> Caller | KeyRejection:
    tenant, key = TenantId(row["tenant"]), KeyId(row["id"])
    if row["revoked"] or row["expired"]:
        return KeyRejection("revoked" if row["revoked"] else "expired", tenant=tenant, key=key)
    is_admitted = row["backlog"] is not None
    # Another request may have been counted since this statement started, so the backlog may be slightly larger.
    backlog: float = row["backlog"] if is_admitted else max(row["backlog_before"] or 0.0, row["burst"])
    remaining = max(0, int((row["burst"] - backlog) / row["each"] + 1e-6))
    rate = KeyRate(row["per_minute"], remaining, max(0.0, backlog))
    if not is_admitted:
        return KeyRejection("rate", backlog + row["each"] - row["burst"], rate, tenant, key)
    if not row["within_tenant_rate"]:
        return KeyRejection("tenant rate", row["tenant_wait"], rate, tenant, key)
    role: Role = row["role"]
    scopes: frozenset[Scope] = frozenset(row["scopes"])
    allowed = scopes if role == "machine" else scopes & get_role_scopes(role)
    name = row["member_name"] or format_key_name(row["name"])
    return Caller(tenant, key, allowed, rate, name, role, row["member"])


def _make_audit_content(key: ApiKey) -> dict[str, Any]:
    """Return the key's fields for the audit log."""
    return {"name": key.name, "scopes": sorted(key.scopes)} | ({"member": key.member} if key.member else {})
