"""The people of a tenant, and the keys that are theirs."""

import datetime as dt

import asyncpg

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import MemberId
from orchestrator.access.sessions import scopes_of_role
from orchestrator.jobs.api_keys import GeneratedKey, hash_key
from orchestrator.jobs.models import TenantId
from orchestrator.reviewing.models import Member, NewMember, ReviewRefused
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import storable_text
from orchestrator.store.mails import PgMails
from orchestrator.store.rows import from_row

__all__ = ["PgMembers"]

_COLUMNS = """
    id, tenant, name, email, affiliation, role, mails, created_at, removed_at,
    subject IS NOT NULL OR EXISTS (
        SELECT FROM api_keys WHERE api_keys.member = members.id AND revoked_at IS NULL
    ) AS signs_in
"""
_INVITE = f"""
    INSERT INTO members (id, tenant, name, email, affiliation, role, mails, invited_by, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (tenant, lower(email)) WHERE removed_at IS NULL DO NOTHING RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants
_LIST = f"SELECT {_COLUMNS} FROM members WHERE tenant = $1 ORDER BY name, id"  # noqa: S608 - of constants
_GET = f"SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND id = $2"  # noqa: S608 - put together from constants
_CHANGE = f"""
    UPDATE members SET name = $3, email = $4, affiliation = $5, role = $6, mails = $7
    WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants
_REMOVE = f"""
    UPDATE members SET removed_at = $3 WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants
_REVOKE_KEYS = "UPDATE api_keys SET revoked_at = $2 WHERE member = $1 AND revoked_at IS NULL"
_ADD_KEY = "INSERT INTO api_keys (id, tenant, name, hash, scopes, member) VALUES ($1, $2, $3, $4, $5, $6)"
_BY_IDENTITY = f"""
    SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND issuer = $2 AND subject = $3 AND removed_at IS NULL
"""  # noqa: S608 - put together from constants
_INVITED_BY = "SELECT FROM members WHERE id = $1 AND invited_by = $2"
# Whoever was invited by this address and has not signed in yet with another identity.
_BIND = f"""
    UPDATE members SET issuer = $2, subject = $3
    WHERE tenant = $1 AND lower(email) = lower($4) AND issuer IS NULL AND removed_at IS NULL RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants


class PgMembers:
    def __init__(self, database: Database, audit_log: PgAuditLog, mails: PgMails) -> None:
        self._database = database
        self._log = audit_log
        self._mails = mails

    async def invite(
        self, tenant: TenantId, id: MemberId, new: NewMember, actor: Actor, now: dt.datetime, *, mailed: bool = False
    ) -> Member | None:
        """None where somebody with this address is a member already. `mailed`: they are told by mail, where the
        service sends mails."""

        async def work(connection: Connection) -> Member | None:
            async with connection.transaction():
                row = await connection.fetchrow(_INVITE, id, tenant, *_values(new), actor.id, now)
                if row is not None:
                    await self._log.append(connection, tenant, actor, "member invited", id, now, **new.model_dump())
                    if mailed:
                        await self._mails.add_invitation(connection, _member(row))
                return None if row is None else _member(row)

        return await self._database.run(work)

    async def list(self, tenant: TenantId) -> list[Member]:
        """By name, removed ones included."""
        return [_member(row) for row in await self._database.fetch(_LIST, tenant)]

    async def get(self, tenant: TenantId, id: MemberId) -> Member | None:
        row = await self._database.fetch_one(_GET, tenant, id)
        return None if row is None else _member(row)

    async def change(
        self, tenant: TenantId, id: MemberId, to: NewMember, actor: Actor, now: dt.datetime
    ) -> Member | None:
        """None for one that is not there or was removed. Raises ReviewRefused where another has the address."""

        async def work(connection: Connection) -> Member | None:
            async with connection.transaction():
                row = await connection.fetchrow(_CHANGE, tenant, id, *_values(to))
                if row is not None and not to.mails:
                    await self._mails.stop(connection, id)
                if row is not None:
                    await self._log.append(connection, tenant, actor, "member changed", id, now, **to.model_dump())
                return None if row is None else _member(row)

        async def attempt(connection: Connection) -> Member | None:
            try:
                return await work(connection)
            except asyncpg.UniqueViolationError:
                raise ReviewRefused(f"Somebody else has the address {to.email}.") from None

        return await self._database.run(attempt)

    async def remove(self, tenant: TenantId, id: MemberId, actor: Actor, now: dt.datetime) -> Member | None:
        """Their keys and sessions end with the next request. Their opinions stay."""

        async def work(connection: Connection) -> Member | None:
            async with connection.transaction():
                row = await connection.fetchrow(_REMOVE, tenant, id, now)
                if row is not None:
                    await self._mails.stop(connection, id)
                    await self._log.append(connection, tenant, actor, "member removed", id, now)
                return None if row is None else _member(row)

        return await self._database.run(work)

    async def give_key(self, member: Member, key: GeneratedKey, actor: Actor, now: dt.datetime) -> None:
        """Their only one: those before are revoked."""
        scopes = sorted(scopes_of_role(member.role))

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await connection.execute(_REVOKE_KEYS, member.id, now)
                hashed = hash_key(key.secret)
                await connection.execute(_ADD_KEY, key.id, member.tenant, member.name, hashed, scopes, member.id)
                await self._log.append(connection, member.tenant, actor, "key given", member.id, now, key=key.id)

        await self._database.run(work)

    async def was_invited_by(self, id: MemberId, actor: Actor) -> bool:
        return bool(await self._database.fetch(_INVITED_BY, id, actor.id))

    async def of_identity(self, tenant: TenantId, issuer: str, subject: str, email: str | None) -> Member | None:
        """Who signs in with an identity provider: bound to this identity, or invited by this address, which the
        provider has verified. From then on the identity counts, whatever becomes of the address."""
        row = await self._database.fetch_one(_BY_IDENTITY, tenant, issuer, subject)
        if row is None and email is not None:
            row = await self._database.fetch_one(_BIND, tenant, issuer, subject, email)
        return None if row is None else _member(row)


def _values(new: NewMember) -> tuple[str, str, str, str, bool]:
    return storable_text(new.name), storable_text(new.email), storable_text(new.affiliation), new.role, new.mails


def _member(row: asyncpg.Record) -> Member:
    return from_row(Member, row)
