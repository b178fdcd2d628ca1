"""The people of a tenant, and the keys that are theirs."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal

import asyncpg

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import MemberId, PersonRole, may
from orchestrator.access.sessions import scopes_of_role
from orchestrator.jobs.api_keys import GeneratedKey, hash_key
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.reviewing.models import Member, NewMember, ReviewRefused
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import storable_text
from orchestrator.store.mails import PgMails
from orchestrator.store.rows import from_row

__all__ = ["COULD_READ_REPORTS", "FOR_OWNERS", "PgMembers", "other_address"]

COULD_READ_REPORTS = "coalesce(members.read_reports_until > batches.created_at, false)"
"""SQL, of a member and a call: another role let them read its reports, so that no first opinion of theirs is blind."""

FOR_OWNERS = (
    "Only an owner may change the address of a member: whoever signs in by it is taken for that person. Remove the "
    "invitation and invite anew."
)

_COLUMNS = """
    id, tenant, name, email, affiliation, role, mails, read_reports_until, created_at, removed_at,
    subject IS NOT NULL OR EXISTS (
        SELECT FROM api_keys WHERE api_keys.member = members.id AND revoked_at IS NULL
    ) AS signs_in
"""
# What somebody could read before they were removed stays with their address and their account.
_INVITE = f"""
    INSERT INTO members (id, tenant, name, email, affiliation, role, mails, invited_by, created_at, read_reports_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, (
        SELECT max(read_reports_until) FROM members WHERE tenant = $2 AND lower(email) = lower($4)
    ))
    ON CONFLICT (tenant, lower(email)) WHERE removed_at IS NULL DO NOTHING RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants
_LIST = f"SELECT {_COLUMNS} FROM members WHERE tenant = $1 ORDER BY name, id"  # noqa: S608 - of constants
_GET = f"SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND id = $2"  # noqa: S608 - put together from constants
# Every role but a reviewer's reads reports. By the clock by which calls are made.
_READS_NO_MORE = "CASE WHEN role <> 'reviewer' {and_so} THEN statement_timestamp() ELSE read_reports_until END"
# Whoever is changed, whoever changes, and all owners, always in this order: two who change each other take turns, and
# so do two owners who both want to be the last but one.
_LOCK = f"""
    SELECT {_COLUMNS} FROM members
    WHERE tenant = $1 AND (id = ANY($2) OR role = 'owner' AND removed_at IS NULL) ORDER BY id FOR UPDATE
"""  # noqa: S608 - put together from constants
_CHANGE = f"""
    UPDATE members SET name = $3, email = $4, affiliation = $5, role = $6, mails = $7,
                       read_reports_until = {_READS_NO_MORE.format(and_so="AND $6 = 'reviewer'")}
    WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants
_SET_MAILS = f"""
    UPDATE members SET mails = $3 WHERE tenant = $1 AND id = $2 AND removed_at IS NULL AND mails <> $3
    RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants
_REMOVE = f"""
    UPDATE members SET removed_at = $3, read_reports_until = {_READS_NO_MORE.format(and_so="")}
    WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING {_COLUMNS}
"""  # noqa: S608 - put together from constants
_REVOKE_KEYS = "UPDATE api_keys SET revoked_at = $2 WHERE member = $1 AND revoked_at IS NULL"
_ADD_KEY = "INSERT INTO api_keys (id, tenant, name, hash, scopes, member) VALUES ($1, $2, $3, $4, $5, $6)"
_BY_IDENTITY = f"""
    SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND issuer = $2 AND subject = $3 AND removed_at IS NULL
"""  # noqa: S608 - put together from constants
_INVITED_BY = "SELECT FROM members WHERE id = $1 AND invited_by = $2"
_REMOVED = """
    SELECT FROM members WHERE tenant = $1 AND removed_at IS NOT NULL
    AND (issuer = $2 AND subject = $3 OR lower(email) = lower($4)) LIMIT 1
"""
# Whoever was invited by this address and has not signed in yet with another identity.
_BIND = f"""
    UPDATE members SET issuer = $2, subject = $3, read_reports_until = greatest(read_reports_until, (
        SELECT max(known.read_reports_until) FROM members AS known
        WHERE known.tenant = $1 AND known.issuer = $2 AND known.subject = $3
    ))
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
                return await self.invite_within(connection, tenant, id, new, actor, now, mailed=mailed)

        return await self._database.run(work)

    async def invite_within(
        self,
        connection: Connection,
        tenant: TenantId,
        id: MemberId,
        new: NewMember,
        actor: Actor,
        now: dt.datetime,
        *,
        mailed: bool,
        batch: BatchId | None = None,
    ) -> Member | None:
        """The same in a transaction of the caller's. `batch`: the call that they are invited to review."""
        row = await connection.fetchrow(_INVITE, id, tenant, *_values(new), actor.id, now)
        if row is None:
            return None
        said = new.model_dump() | ({} if batch is None else {"call": batch})
        await self._log.append(connection, tenant, actor, "member invited", id, now, **said)
        if mailed:
            await self._mails.add_invitation(connection, _member(row), batch)
        return _member(row)

    async def list(self, tenant: TenantId) -> list[Member]:
        """By name, removed ones included."""
        return [_member(row) for row in await self._database.fetch(_LIST, tenant)]

    async def get(self, tenant: TenantId, id: MemberId) -> Member | None:
        row = await self._database.fetch_one(_GET, tenant, id)
        return None if row is None else _member(row)

    async def get_within(self, connection: Connection, tenant: TenantId, id: MemberId) -> Member | None:
        row = await connection.fetchrow(_GET, tenant, id)
        return None if row is None else _member(row)

    async def change(
        self, tenant: TenantId, id: MemberId, fields: Mapping[str, Any], actor: Actor, now: dt.datetime
    ) -> Member | None:
        """Of the fields of a NewMember those that are given; the others stay as they are at that moment. None for one
        that is not there or was removed. Raises ReviewRefused where another has the address, or the role of whoever
        changes does not allow it, as it stands by then."""

        async def work(connection: Connection) -> Member | None:
            async with connection.transaction():
                role, email = fields.get("role", "as before"), fields.get("email")
                before = await self._held(connection, tenant, id, actor, role, email)
                if before is None:
                    return None
                changed = before.model_dump(include=set(NewMember.model_fields)) | dict(fields)
                to = NewMember(**changed)
                row = await connection.fetchrow(_CHANGE, tenant, id, *_values(to))
                if not to.mails:
                    await self._mails.stop(connection, id)
                await self._log.append(connection, tenant, actor, "member changed", id, now, **to.model_dump())
                return None if row is None else _member(row)

        async def attempt(connection: Connection) -> Member | None:
            try:
                return await work(connection)
            except asyncpg.UniqueViolationError:
                raise ReviewRefused(f"Somebody else has the address {fields.get('email')}.") from None

        return await self._database.run(attempt)

    async def set_mails(self, tenant: TenantId, id: MemberId, wanted: bool, actor: Actor, now: dt.datetime) -> None:
        """Whether they are told by mail, and nothing else about them."""

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                if await connection.fetchrow(_SET_MAILS, tenant, id, wanted) is None:
                    return
                if not wanted:
                    await self._mails.stop(connection, id)
                await self._log.append(connection, tenant, actor, "member changed", id, now, mails=wanted)

        await self._database.run(work)

    async def remove(self, tenant: TenantId, id: MemberId, actor: Actor, now: dt.datetime) -> Member | None:
        """Their keys and sessions end with the next request. Their opinions stay. Raises ReviewRefused, as `change`."""

        async def work(connection: Connection) -> Member | None:
            async with connection.transaction():
                if await self._held(connection, tenant, id, actor, "removed") is None:
                    return None
                row = await connection.fetchrow(_REMOVE, tenant, id, now)
                await self._mails.stop(connection, id)
                await self._log.append(connection, tenant, actor, "member removed", id, now)
                return None if row is None else _member(row)

        return await self._database.run(work)

    async def give_key(
        self, tenant: TenantId, id: MemberId, key: GeneratedKey, actor: Actor, now: dt.datetime
    ) -> Member | None:
        """Their only one: those before are revoked. None for one that is not there or was removed."""

        async def work(connection: Connection) -> Member | None:
            async with connection.transaction():
                member = await self._held(connection, tenant, id, actor)
                if member is None:
                    return None
                await connection.execute(_REVOKE_KEYS, id, now)
                scopes = sorted(scopes_of_role(member.role))
                await connection.execute(_ADD_KEY, key.id, tenant, member.name, hash_key(key.secret), scopes, id)
                # Whoever makes it reads it, and could act with it.
                await self._log.append(connection, tenant, actor, "key given", id, now, key=key.id, shown_to=actor.name)
                return member

        return await self._database.run(work)

    async def _held(
        self,
        connection: Connection,
        tenant: TenantId,
        id: MemberId,
        actor: Actor,
        becomes: PersonRole | Literal["as before", "removed"] = "as before",
        email: str | None = None,
    ) -> Member | None:
        """Somebody as they are, and stay until the transaction has ended; None for one that is not there or was
        removed. Raises ReviewRefused where whoever acts may not change them: they may have had another role when they
        asked; and where nobody would be left who answers for the tenant."""
        people = {row["id"]: _member(row) for row in await connection.fetch(_LOCK, tenant, [id, actor.id])}
        acts, found = people.get(MemberId(actor.id)), people.get(id)
        if acts is not None and (acts.removed_at is not None or not may(acts.role, "invite people")):
            raise ReviewRefused("Your own role has changed meanwhile: you may not change people any more.")
        if found is None or found.removed_at is not None:
            return None
        role = (actor if acts is None else acts).role
        if "owner" in (found.role, becomes) and role not in ("owner", "machine"):
            raise ReviewRefused("Only an owner may make, change or remove an owner.")
        others = [one for one in people.values() if one.id != id and one.role == "owner" and one.removed_at is None]
        if found.role == "owner" and becomes not in ("owner", "as before") and not others:
            raise ReviewRefused(f"{found.name} is the last owner: make somebody else an owner first.")
        if other_address(found.email, email) and not may(role, "change addresses"):
            raise ReviewRefused(FOR_OWNERS)
        return found

    async def was_invited_by(self, id: MemberId, actor: Actor) -> bool:
        return bool(await self._database.fetch(_INVITED_BY, id, actor.id))

    async def was_removed(self, tenant: TenantId, issuer: str, subject: str, email: str) -> bool:
        """Whether somebody has removed a member of this identity or address, whoever has been invited since."""
        return bool(await self._database.fetch(_REMOVED, tenant, issuer, subject, email))

    async def of_identity(
        self, tenant: TenantId, issuer: str, subject: str, email: str | None, provider: Actor, now: dt.datetime
    ) -> Member | None:
        """Who signs in with an identity provider: bound to this identity, or invited by this address, which the
        provider has verified. From then on the identity counts, whatever becomes of the address; the log says so."""
        row = await self._database.fetch_one(_BY_IDENTITY, tenant, issuer, subject)
        if row is not None or email is None:
            return None if row is None else _member(row)

        async def bind(connection: Connection) -> Member | None:
            async with connection.transaction():
                bound = await connection.fetchrow(_BIND, tenant, issuer, subject, email)
                if bound is None:
                    return None
                account = {"issuer": issuer, "subject": subject, "email": email}
                await self._log.append(connection, tenant, provider, "account bound", bound["id"], now, **account)
                return _member(bound)

        return await self._database.run(bind)


def other_address(before: str, after: str | None) -> bool:
    """Whether another could sign in by it: letters are the same in either case."""
    return after is not None and after.lower() != before.lower()


def _values(new: NewMember) -> tuple[str, str, str, str, bool]:
    return storable_text(new.name), storable_text(new.email), storable_text(new.affiliation), new.role, new.mails


def _member(row: asyncpg.Record) -> Member:
    return from_row(Member, row)
