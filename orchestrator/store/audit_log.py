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
from orchestrator.store.json_columns import json_without_nul

_BEGIN = "INSERT INTO audit_heads (tenant, number, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING"
# This lock serialises appends to a tenant's log.
_HEAD = "SELECT number, hash FROM audit_heads WHERE tenant = $1 FOR UPDATE"
_ADD = """
    INSERT INTO audit_log (
        tenant, number, recorded_at, actor, role, action, subject, content_hash, previous_hash, hash
    )
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_ADD_CONTENT = "INSERT INTO audit_contents (tenant, number, subject, salt, content) VALUES ($1, $2, $3, $4, $5)"
_MOVE_HEAD = "UPDATE audit_heads SET number = $2, hash = $3 WHERE tenant = $1"
_ENTRIES = """
    SELECT entry.*, words.salt, words.content
    FROM audit_log AS entry LEFT JOIN audit_contents AS words USING (tenant, number)
    WHERE entry.tenant = $1 AND entry.number > $2 ORDER BY entry.number LIMIT $3
"""
_NEWEST = """
    SELECT entry.*, words.salt, words.content
    FROM audit_log AS entry LEFT JOIN audit_contents AS words USING (tenant, number)
    WHERE entry.tenant = $1 AND ($2::text IS NULL OR entry.actor = $2) AND ($3::text IS NULL OR entry.action = $3)
      AND ($4::text IS NULL OR entry.subject = $4) AND ($5::bigint IS NULL OR entry.number < $5)
    ORDER BY entry.number DESC LIMIT $6
"""
# Entries about erasures keep their content, which names no applicant.
_FORGET = """
    DELETE FROM audit_contents USING audit_log AS entry
    WHERE audit_contents.tenant = $1 AND (audit_contents.subject = ANY($2) OR $2 IS NULL)
      AND entry.tenant = $1 AND entry.number = audit_contents.number AND entry.action <> 'erased'
    RETURNING entry.number
"""
# Content about resources that were deleted when their retention period ended. Erasures delete content themselves.
_EXPIRED_CONTENT = """
    SELECT words.tenant, array_agg(DISTINCT words.subject) AS subjects
    FROM audit_contents AS words JOIN tenants ON tenants.id = words.tenant
    WHERE tenants.retention_days IS NOT NULL AND words.subject ~ '^(ev|bt|rk)_'
      AND EXISTS (
          SELECT FROM audit_log AS entry
          WHERE entry.tenant = words.tenant AND entry.number = words.number AND entry.action <> 'erased'
            AND entry.recorded_at < $1::timestamptz - tenants.retention_days * interval '1 day'
      )
      AND NOT EXISTS (SELECT FROM jobs WHERE jobs.id = words.subject)
      AND NOT EXISTS (SELECT FROM batches WHERE batches.id = words.subject)
    GROUP BY words.tenant
"""
_RETENTION = Actor("retention", "the retention period", "machine")


class PgAuditLog(Store):
    async def append(
        self, connection: Connection, /, tenant: TenantId, by: ActBy, act: AuditedAct, about: str, **content: Any
    ) -> AuditHead:
        """Append an entry in the same transaction as the action it records, so that both are stored or neither is. The
        values in `content` must be JSON-serialisable."""
        await connection.execute(_BEGIN, tenant, FIRST_PREVIOUS_HASH)
        head = await connection.fetchrow(_HEAD, tenant)
        if head is None:  # cannot happen: `_BEGIN` has just created it
            raise LookupError(tenant)
        salt = secrets.token_hex(16)
        words = to_canonical_json(json.loads(json_without_nul(to_canonical_json({"by": by.actor.name} | content))))
        entry_without_hash = AuditEntry(
            tenant=tenant,
            number=head["number"] + 1,
            recorded_at=by.at,
            actor=by.actor.id,
            role=by.actor.role,
            action=act,
            subject=about,
            content=json.loads(words),
            salt=salt,
            content_hash=compute_content_hash(salt, words),
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
        await connection.execute(_ADD, tenant, entry.number, *values, entry.hash)
        await connection.execute(_ADD_CONTENT, tenant, entry.number, about, salt, words)
        await connection.execute(_MOVE_HEAD, tenant, entry.number, entry.hash)
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
        things: Sequence[str] | None,
        **more: list[str],
    ) -> AuditHead:
        """Delete the content of all log entries about these resources (None: all resources) and record the erasure.
        Runs in the transaction that deletes the resources themselves. The entries' hashes are kept. `more` is added to
        the new entry's content."""
        numbers = await self._forget(connection, tenant, things)
        content = {"erased_ids": list(things or ()), "entries": numbers, **more}
        return await self.append(connection, tenant, by, "erased", about, **content)

    _purge = in_transaction(erase_within)

    async def erase_late(
        self, connection: Connection, tenant: TenantId, by: ActBy, about: str, things: Sequence[str]
    ) -> None:
        """Delete content that was logged about these resources after their erasure. If there was any, record another
        erasure."""
        if numbers := await self._forget(connection, tenant, things):
            content = {"erased_ids": list(things), "entries": numbers}
            await self.append(connection, tenant, by, "erased", about, **content)

    async def _forget(self, connection: Connection, tenant: TenantId, things: Sequence[str] | None) -> list[int]:
        """Delete the content of the entries about these resources (None: all), and return the entries' numbers."""
        await connection.execute(_BEGIN, tenant, FIRST_PREVIOUS_HASH)
        await connection.fetchrow(_HEAD, tenant)
        rows = await connection.fetch(_FORGET, tenant, None if things is None else list(things))
        return sorted(row["number"] for row in rows)

    async def purge(self, now: dt.datetime) -> int:
        """Delete audit content about evaluations, calls and rankings whose retention period has ended. Return the
        number of tenants affected."""
        rows = await self._database.fetch(_EXPIRED_CONTENT, now)
        for row in rows:
            await self._purge(TenantId(row["tenant"]), ActBy(_RETENTION, now), "retention", row["subjects"])
        return len(rows)

    async def head(self, tenant: TenantId) -> AuditHead:
        query = "SELECT tenant, number, hash FROM audit_heads WHERE tenant = $1"
        return await self._database.select_one(AuditHead, query, tenant) or AuditHead(
            tenant=tenant, number=0, hash=FIRST_PREVIOUS_HASH
        )

    async def entries(self, tenant: TenantId, *, after: int = 0, limit: int = 500) -> list[AuditEntry]:
        """Return the entries whose number is greater than `after`, in order."""
        return await self._database.select(AuditEntry, _ENTRIES, tenant, after, limit)

    async def newest(
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
        return await self._database.select(AuditEntry, _NEWEST, tenant, actor, act, about, before, limit)

    async def actors(self, tenant: TenantId) -> list[str]:
        """Return the ids of all actors in a tenant's audit log."""
        rows = await self._database.fetch("SELECT DISTINCT actor FROM audit_log WHERE tenant = $1 ORDER BY 1", tenant)
        return [row["actor"] for row in rows]


class LoggedStore(Store):
    """Base class for stores that record people's actions in the audit log, in the same transactions."""

    def __init__(self, database: Database, audit_log: PgAuditLog) -> None:
        super().__init__(database)
        self._log = audit_log
