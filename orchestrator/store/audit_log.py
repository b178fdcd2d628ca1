"""The log of people's acts in PostgreSQL, which refuses to change or delete an entry."""

import datetime as dt
import json
import secrets
from collections.abc import Sequence
from typing import Any

import asyncpg

from orchestrator.access.audit_chain import (
    FIRST,
    Actor,
    AuditedAct,
    AuditEntry,
    AuditTip,
    canonical,
    content_hash,
    entry_hash,
)
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import json_without_nul
from orchestrator.store.rows import from_row

__all__ = ["PgAuditLog"]

_BEGIN = "INSERT INTO audit_tips (tenant, number, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING"
# Those who append to one tenant's log take turns here.
_TIP = "SELECT number, hash FROM audit_tips WHERE tenant = $1 FOR UPDATE"
_ADD = """
    INSERT INTO audit_log (tenant, number, at, actor, role, act, about, content_hash, previous, hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_ADD_CONTENT = "INSERT INTO audit_contents (tenant, number, about, salt, content) VALUES ($1, $2, $3, $4, $5)"
_MOVE_TIP = "UPDATE audit_tips SET number = $2, hash = $3 WHERE tenant = $1"
_ENTRIES = """
    SELECT entry.*, words.salt, words.content
    FROM audit_log AS entry LEFT JOIN audit_contents AS words USING (tenant, number)
    WHERE entry.tenant = $1 AND entry.number > $2 ORDER BY entry.number LIMIT $3
"""
_NEWEST = """
    SELECT entry.*, words.salt, words.content
    FROM audit_log AS entry LEFT JOIN audit_contents AS words USING (tenant, number)
    WHERE entry.tenant = $1 AND ($2::text IS NULL OR entry.actor = $2) AND ($3::text IS NULL OR entry.act = $3)
      AND ($4::text IS NULL OR entry.about = $4) AND ($5::bigint IS NULL OR entry.number < $5)
    ORDER BY entry.number DESC LIMIT $6
"""
# What says that something was erased stays: it names no applicant.
_FORGET = """
    DELETE FROM audit_contents USING audit_log AS entry
    WHERE audit_contents.tenant = $1 AND (audit_contents.about = ANY($2) OR $2 IS NULL)
      AND entry.tenant = $1 AND entry.number = audit_contents.number AND entry.act <> 'erased'
    RETURNING entry.number
"""


# What a tenant's retention time has taken; what was asked to be erased is forgotten already.
_LEFT_BEHIND = """
    SELECT words.tenant, array_agg(DISTINCT words.about) AS things
    FROM audit_contents AS words JOIN tenants ON tenants.id = words.tenant
    WHERE tenants.retention_days IS NOT NULL AND words.about ~ '^(ev|bt|rk)_'
      AND EXISTS (
          SELECT FROM audit_log AS entry
          WHERE entry.tenant = words.tenant AND entry.number = words.number AND entry.act <> 'erased'
            AND entry.at < $1::timestamptz - tenants.retention_days * interval '1 day'
      )
      AND NOT EXISTS (SELECT FROM jobs WHERE jobs.id = words.about)
      AND NOT EXISTS (SELECT FROM batches WHERE batches.id = words.about)
    GROUP BY words.tenant
"""
_RETENTION = Actor("retention", "the time of retention", "machine")


class PgAuditLog:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self,
        connection: Connection,
        tenant: TenantId,
        actor: Actor,
        act: AuditedAct,
        about: str,
        now: dt.datetime,
        **content: Any,
    ) -> AuditTip:
        """In the transaction of the act itself: both happen, or neither. `content` is JSON."""
        await connection.execute(_BEGIN, tenant, FIRST)
        tip = await connection.fetchrow(_TIP, tenant)
        if tip is None:  # `_BEGIN` has just seen to it
            raise LookupError(tenant)
        salt = secrets.token_hex(16)
        words = canonical(json.loads(json_without_nul(canonical({"by": actor.name} | content))))
        unhashed = AuditEntry(
            tenant=tenant,
            number=tip["number"] + 1,
            at=now,
            actor=actor.id,
            role=actor.role,
            act=act,
            about=about,
            content=json.loads(words),
            salt=salt,
            content_hash=content_hash(salt, words),
            previous=tip["hash"],
            hash="",
        )
        entry = unhashed.model_copy(update={"hash": entry_hash(unhashed)})
        values = (entry.at, entry.actor, entry.role, entry.act, entry.about, entry.content_hash, entry.previous)
        await connection.execute(_ADD, tenant, entry.number, *values, entry.hash)
        await connection.execute(_ADD_CONTENT, tenant, entry.number, about, salt, words)
        await connection.execute(_MOVE_TIP, tenant, entry.number, entry.hash)
        return AuditTip(tenant=tenant, number=entry.number, hash=entry.hash)

    async def record(
        self, tenant: TenantId, actor: Actor, act: AuditedAct, about: str, now: dt.datetime, **content: Any
    ) -> AuditTip:
        """Of an act that is not a change of the database."""

        async def work(connection: Connection) -> AuditTip:
            async with connection.transaction():
                return await self.append(connection, tenant, actor, act, about, now, **content)

        return await self._database.run(work)

    async def erase(
        self,
        tenant: TenantId,
        actor: Actor,
        about: str,
        things: Sequence[str] | None,
        now: dt.datetime,
        taken_out_of: Sequence[str] = (),
    ) -> AuditTip:
        """Deletes the words of all entries about these things (None: all things), and says which. Their hashes stay.
        `taken_out_of`: rankings that stay, without what is erased; the entry names them."""
        more = {"taken_out_of": list(taken_out_of)} if taken_out_of else {}

        async def work(connection: Connection) -> AuditTip:
            async with connection.transaction():
                return await self.erase_within(connection, tenant, actor, about, things, now, **more)

        return await self._database.run(work)

    async def erase_within(
        self,
        connection: Connection,
        tenant: TenantId,
        actor: Actor,
        about: str,
        things: Sequence[str] | None,
        now: dt.datetime,
        **more: list[str],
    ) -> AuditTip:
        """As `erase`, in the transaction that deletes the things themselves."""
        gone = await self._forget(connection, tenant, things)
        return await self._say_erased(connection, tenant, actor, about, things, gone, now, **more)

    async def erase_late(
        self,
        connection: Connection,
        tenant: TenantId,
        actor: Actor,
        about: str,
        things: Sequence[str] | None,
        now: dt.datetime,
    ) -> None:
        """As `erase_within`, of what was said of them since `erase`; where nothing was, there is no entry."""
        if gone := await self._forget(connection, tenant, things):
            await self._say_erased(connection, tenant, actor, about, things, gone, now)

    async def _forget(self, connection: Connection, tenant: TenantId, things: Sequence[str] | None) -> list[int]:
        """Numbers of the entries that have lost their words."""
        await connection.execute(_BEGIN, tenant, FIRST)
        await connection.fetchrow(_TIP, tenant)
        rows = await connection.fetch(_FORGET, tenant, None if things is None else list(things))
        return sorted(row["number"] for row in rows)

    async def _say_erased(
        self,
        connection: Connection,
        tenant: TenantId,
        actor: Actor,
        about: str,
        things: Sequence[str] | None,
        gone: Sequence[int],
        now: dt.datetime,
        **more: list[str],
    ) -> AuditTip:
        said = {"things": list(things or ()), "entries": list(gone), **more}
        return await self.append(connection, tenant, actor, "erased", about, now, **said)

    async def purge(self, now: dt.datetime) -> int:
        """Deletes the words about evaluations, calls and rankings that the time of retention has taken. Of how many
        tenants."""
        rows = await self._database.fetch(_LEFT_BEHIND, now)
        for row in rows:
            await self.erase(TenantId(row["tenant"]), _RETENTION, "retention", row["things"], now)
        return len(rows)

    async def tip(self, tenant: TenantId) -> AuditTip:
        row = await self._database.fetch_one("SELECT number, hash FROM audit_tips WHERE tenant = $1", tenant)
        return from_row(AuditTip, row, tenant=tenant) if row else AuditTip(tenant=tenant, number=0, hash=FIRST)

    async def entries(self, tenant: TenantId, *, after: int = 0, limit: int = 500) -> list[AuditEntry]:
        """In order, from the number after `after` on."""
        return [_entry(row) for row in await self._database.fetch(_ENTRIES, tenant, after, limit)]

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
        """The newest first, below the number `before`; with an actor, an act, a subject, only their entries."""
        rows = await self._database.fetch(_NEWEST, tenant, actor, act, about, before, limit)
        return [_entry(row) for row in rows]

    async def actors(self, tenant: TenantId) -> list[str]:
        """Ids of all who have acted."""
        rows = await self._database.fetch("SELECT DISTINCT actor FROM audit_log WHERE tenant = $1 ORDER BY 1", tenant)
        return [row["actor"] for row in rows]


def _entry(row: asyncpg.Record) -> AuditEntry:
    content = row["content"]
    return from_row(AuditEntry, row, content=None if content is None else json.loads(content))
