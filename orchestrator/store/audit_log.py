"""Audit log of people's actions in PostgreSQL. Database rules prevent its entries from being changed or deleted."""

import datetime as dt
import json
import secrets
from collections.abc import Sequence
from typing import Any

from orchestrator.access.audit_chain import (
    FIRST_PREVIOUS_HASH,
    ActBy,
    Actor,
    AuditedAct,
    AuditEntry,
    AuditHead,
    compute_content_hash,
    compute_entry_hash,
    to_canonical_json,
)
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Connection, Database, Store, in_transaction
from orchestrator.store.json_columns import replace_nul_in_json

_INSERT_HEAD = "INSERT INTO audit_heads (tenant, number, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING"
# This lock serialises appends to a tenant's log.
_LOCK_HEAD = "SELECT number, hash FROM audit_heads WHERE tenant = $1 FOR UPDATE"
_INSERT_ENTRY = """
    INSERT INTO audit_log (
        tenant, number, recorded_at, actor, role, action, subject, content_hash, previous_hash, hash
    )
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_INSERT_CONTENT = "INSERT INTO audit_contents (tenant, number, subject, salt, content) VALUES ($1, $2, $3, $4, $5)"
_UPDATE_HEAD = "UPDATE audit_heads SET number = $2, hash = $3 WHERE tenant = $1"
_SELECT_ENTRIES = """
    SELECT entry.*, contents.salt, contents.content
    FROM audit_log AS entry LEFT JOIN audit_contents AS contents USING (tenant, number)
    WHERE entry.tenant = $1 AND entry.number > $2 ORDER BY entry.number LIMIT $3
"""
_SELECT_NEWEST = """
    SELECT entry.*, contents.salt, contents.content
    FROM audit_log AS entry LEFT JOIN audit_contents AS contents USING (tenant, number)
    WHERE entry.tenant = $1 AND ($2::text IS NULL OR entry.actor = $2) AND ($3::text IS NULL OR entry.action = $3)
      AND ($4::text IS NULL OR entry.subject = $4) AND ($5::bigint IS NULL OR entry.number < $5)
    ORDER BY entry.number DESC LIMIT $6
"""
# Entries about erasures keep their content, which names no applicant.
_DELETE_CONTENT = """
    DELETE FROM audit_contents USING audit_log AS entry
    WHERE audit_contents.tenant = $1 AND (audit_contents.subject = ANY($2) OR $2 IS NULL)
      AND entry.tenant = $1 AND entry.number = audit_contents.number AND entry.action <> 'erased'
    RETURNING entry.number
"""
# Content about resources that were deleted when their retention period ended. Erasures delete content themselves.
_SELECT_EXPIRED_CONTENT = """
    SELECT contents.tenant, array_agg(DISTINCT contents.subject) AS subjects
    FROM audit_contents AS contents JOIN tenants ON tenants.id = contents.tenant
    WHERE tenants.retention_days IS NOT NULL AND contents.subject ~ '^(ev|bt|rk)_'
      AND EXISTS (
          SELECT FROM audit_log AS entry
          WHERE entry.tenant = contents.tenant AND entry.number = contents.number AND entry.action <> 'erased'
            AND entry.recorded_at < $1::timestamptz - tenants.retention_days * interval '1 day'
      )
      AND NOT EXISTS (SELECT FROM jobs WHERE jobs.id = contents.subject)
      AND NOT EXISTS (SELECT FROM batches WHERE batches.id = contents.subject)
    GROUP BY contents.tenant
"""
_RETENTION_ACTOR = Actor("retention", "the retention period", "machine")


class PgAuditLog(Store):
    async def append(
        self, connection: Connection, /, tenant: TenantId, by: ActBy, act: AuditedAct, about: str, **content: Any
    ) -> AuditHead:
        """Append an entry in the same transaction as the action it records, so that both are stored or neither is. The
        values in `content` must be JSON-serialisable."""
        await connection.execute(_INSERT_HEAD, tenant, FIRST_PREVIOUS_HASH)
        head = await connection.fetchrow(_LOCK_HEAD, tenant)
        if head is None:  # cannot happen: `_INSERT_HEAD` has just created it
            raise LookupError(tenant)
        salt = secrets.token_hex(16)
        content_json = to_canonical_json(
            json.loads(replace_nul_in_json(to_canonical_json({"by": by.actor.name} | content)))
        )
        entry_without_hash = AuditEntry(
            tenant=tenant,
            number=head["number"] + 1,
            recorded_at=by.at,
            actor=by.actor.id,
            role=by.actor.role,
            action=act,
            subject=about,
            content=json.loads(content_json),
            salt=salt,
            content_hash=compute_content_hash(salt, content_json),
            previous_hash=head["hash"],
            hash="",
        )
        entry = entry_without_hash.model_copy(update={"hash": compute_entry_hash(entry_without_hash)})
        values = (
            entry.recorded_at,
            entry.actor,
            entry.role,
            entry.action,
            entry.subject,
            entry.content_hash,
            entry.previous_hash,
        )
        await connection.execute(_INSERT_ENTRY, tenant, entry.number, *values, entry.hash)
        await connection.execute(_INSERT_CONTENT, tenant, entry.number, about, salt, content_json)
        await connection.execute(_UPDATE_HEAD, tenant, entry.number, entry.hash)
        return AuditHead(tenant=tenant, number=entry.number, hash=entry.hash)

    record = in_transaction(append)
    """Append an entry in its own transaction, for an action that does not change the database."""

    async def erase_within(
        self,
        connection: Connection,
        /,
        tenant: TenantId,
        by: ActBy,
        about: str,
        resource_ids: Sequence[str] | None,
        **extra_content: list[str],
    ) -> AuditHead:
        """Delete the content of all log entries about these resources (None: all resources) and record the erasure.
        Runs in the transaction that deletes the resources themselves. The entries' hashes are kept. `extra_content` is
        added to the new entry's content."""
        numbers = await self._delete_content(connection, tenant, resource_ids)
        content = {"erased_ids": list(resource_ids or ()), "entries": numbers, **extra_content}
        return await self.append(connection, tenant, by, "erased", about, **content)

    _erase = in_transaction(erase_within)

    async def erase_late(
        self, connection: Connection, tenant: TenantId, by: ActBy, about: str, resource_ids: Sequence[str]
    ) -> None:
        """Delete content that was logged about these resources after their erasure. If there was any, record another
        erasure."""
        if numbers := await self._delete_content(connection, tenant, resource_ids):
            content = {"erased_ids": list(resource_ids), "entries": numbers}
            await self.append(connection, tenant, by, "erased", about, **content)

    async def _delete_content(
        self, connection: Connection, tenant: TenantId, resource_ids: Sequence[str] | None
    ) -> list[int]:
        """Delete the content of the entries about these resources (None: all), and return the entries' numbers."""
        await connection.execute(_INSERT_HEAD, tenant, FIRST_PREVIOUS_HASH)
        await connection.fetchrow(_LOCK_HEAD, tenant)
        rows = await connection.fetch(_DELETE_CONTENT, tenant, None if resource_ids is None else list(resource_ids))
        return sorted(row["number"] for row in rows)

    async def purge(self, now: dt.datetime) -> int:
        """Delete audit content about evaluations, calls and rankings whose retention period has ended. Return the
        number of tenants affected."""
        rows = await self._database.fetch(_SELECT_EXPIRED_CONTENT, now)
        for row in rows:
            await self._erase(TenantId(row["tenant"]), ActBy(_RETENTION_ACTOR, now), "retention", row["subjects"])
        return len(rows)

    async def get_head(self, tenant: TenantId) -> AuditHead:
        query = "SELECT tenant, number, hash FROM audit_heads WHERE tenant = $1"
        return await self._database.select_one(AuditHead, query, tenant) or AuditHead(
            tenant=tenant, number=0, hash=FIRST_PREVIOUS_HASH
        )

    async def list_entries(self, tenant: TenantId, *, after: int = 0, limit: int = 500) -> list[AuditEntry]:
        """Return the entries whose number is greater than `after`, in order."""
        return await self._database.select(AuditEntry, _SELECT_ENTRIES, tenant, after, limit)

    async def list_newest(
        self,
        tenant: TenantId,
        *,
        actor: str | None = None,
        act: AuditedAct | None = None,
        about: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[AuditEntry]:
        """Return entries, newest first, optionally filtered by actor, action or subject. With `before`, only entries
        with a smaller number."""
        return await self._database.select(AuditEntry, _SELECT_NEWEST, tenant, actor, act, about, before, limit)

    async def list_actors(self, tenant: TenantId) -> list[str]:
        """Return the ids of all actors in a tenant's audit log."""
        rows = await self._database.fetch("SELECT DISTINCT actor FROM audit_log WHERE tenant = $1 ORDER BY 1", tenant)
        return [row["actor"] for row in rows]


class LoggedStore(Store):
    """Base class for stores that record people's actions in the audit log, in the same transactions."""

    def __init__(self, database: Database, audit_log: PgAuditLog) -> None:
        super().__init__(database)
        self._log = audit_log
