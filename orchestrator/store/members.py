"""A tenant's members, and their API keys."""

import builtins
from collections.abc import Mapping
from typing import Any, Literal

import asyncpg

from orchestrator.access.api_keys import GeneratedKey, hash_key
from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.access.roles import MemberId, PersonRole, may
from orchestrator.access.sessions import get_role_scopes
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.reviewing.models import Member, NewMember, ReviewRefused
from orchestrator.store.audit_log import LoggedStore, PgAuditLog
from orchestrator.store.database import Connection, Database, in_transaction, select_one
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.mails import PgMails
from orchestrator.store.rows import from_row

COULD_READ_REPORTS = "coalesce(members.read_reports_until > batches.created_at, false)"
"""SQL condition for a member who could read the call's reports in an earlier role, so that their first opinion would
not be blind."""

ADDRESS_CHANGE_REFUSAL = (
    "Only an owner may change the address of a member, because it identifies the person who signs in. Remove the "
    "invitation and create a new one."
)

_COLUMNS = """
    id, tenant, name, email, affiliation, role, receives_email, read_reports_until, created_at, removed_at,
    subject IS NOT NULL OR EXISTS (
        SELECT FROM api_keys WHERE api_keys.member = members.id AND revoked_at IS NULL
    ) OR EXISTS (
        SELECT FROM sign_in_links WHERE sign_in_links.member = members.id AND used_at IS NOT NULL
    ) AS can_sign_in
"""
# `read_reports_until` of a removed member is carried over to later members with the same address.
_INSERT_MEMBER = f"""
    INSERT INTO members (
        id, tenant, name, email, affiliation, role, receives_email, invited_by, created_at, read_reports_until
    )
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, (
        SELECT max(read_reports_until) FROM members WHERE tenant = $2 AND lower(email) = lower($4)
    ))
    ON CONFLICT (tenant, lower(email)) WHERE removed_at IS NULL DO NOTHING RETURNING {_COLUMNS}
"""
_SELECT_MEMBERS = f"SELECT {_COLUMNS} FROM members WHERE tenant = $1 ORDER BY name, id"
_SELECT_REVIEWERS = f"""
    SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND role = 'reviewer' AND removed_at IS NULL ORDER BY name, id
"""
_SELECT_MEMBER = f"SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND id = $2"
_SELECT_BY_EMAIL = f"""
    SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND lower(email) = lower($2) AND removed_at IS NULL
"""
# All roles except reviewer can read reports. The database server's clock is used, as for the dates of calls.
_READ_REPORTS_UNTIL = "CASE WHEN role <> 'reviewer' {and_so} THEN statement_timestamp() ELSE read_reports_until END"
# Locks the member to change, the acting member and all owners, always in this order. Concurrent changes therefore
# cannot deadlock, and two owners cannot remove each other at the same time.
_LOCK_MEMBERS = f"""
    SELECT {_COLUMNS} FROM members
    WHERE tenant = $1 AND (id = ANY($2) OR role = 'owner' AND removed_at IS NULL) ORDER BY id FOR UPDATE
"""
_UPDATE_MEMBER = f"""
    UPDATE members SET name = $3, email = $4, affiliation = $5, role = $6, receives_email = $7,
                       read_reports_until = {_READ_REPORTS_UNTIL.format(and_so="AND $6 = 'reviewer'")}
    WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING {_COLUMNS}
"""
_SET_RECEIVES_EMAIL = f"""
    UPDATE members SET receives_email = $3 WHERE tenant = $1 AND id = $2 AND removed_at IS NULL AND receives_email <> $3
    RETURNING {_COLUMNS}
"""
_REMOVE_MEMBER = f"""
    UPDATE members SET removed_at = $3, read_reports_until = {_READ_REPORTS_UNTIL.format(and_so="")}
    WHERE tenant = $1 AND id = $2 AND removed_at IS NULL RETURNING {_COLUMNS}
"""
_REVOKE_KEYS = "UPDATE api_keys SET revoked_at = $2 WHERE member = $1 AND revoked_at IS NULL"
_DELETE_SIGN_IN_LINKS = "DELETE FROM sign_in_links WHERE member = $1 AND used_at IS NULL"
_INSERT_KEY = "INSERT INTO api_keys (id, tenant, name, hash, scopes, member) VALUES ($1, $2, $3, $4, $5, $6)"
_SELECT_BY_IDENTITY = f"""
    SELECT {_COLUMNS} FROM members WHERE tenant = $1 AND issuer = $2 AND subject = $3 AND removed_at IS NULL
"""
_SELECT_INVITED_BY = "SELECT FROM members WHERE id = $1 AND invited_by = $2"
_SELECT_REMOVED = """
    SELECT FROM members WHERE tenant = $1 AND removed_at IS NOT NULL
    AND (issuer = $2 AND subject = $3 OR lower(email) = lower($4)) LIMIT 1
"""
# Binds the identity to the member who was invited under this address and has no other identity yet.
_BIND_IDENTITY = f"""
    UPDATE members SET issuer = $2, subject = $3, read_reports_until = greatest(read_reports_until, (
        SELECT max(earlier_member.read_reports_until) FROM members AS earlier_member
        WHERE earlier_member.tenant = $1 AND earlier_member.issuer = $2 AND earlier_member.subject = $3
    ))
    WHERE tenant = $1 AND lower(email) = lower($4) AND issuer IS NULL AND removed_at IS NULL RETURNING {_COLUMNS}
"""


class PgMembers(LoggedStore):
    def __init__(self, database: Database, audit_log: PgAuditLog, mails: PgMails) -> None:
        super().__init__(database, audit_log)
        self._mails = mails

    async def invite_within(
        self,
        connection: Connection,
        /,
        tenant: TenantId,
        id: MemberId,
        new_member: NewMember,
        by: ActBy,
        *,
        mailed: bool = False,
        batch: BatchId | None = None,
    ) -> Member | None:
        """Add a member in the caller's transaction. Return None if a member already has this address. With `mailed`,
        the person is notified by email if the service sends emails; `batch` is the call that they are invited to
        review."""
        member = await select_one(
            connection, Member, _INSERT_MEMBER, id, tenant, *_make_columns(new_member), by.actor.id, by.at
        )
        if member is None:
            return None
        content = new_member.model_dump() | ({} if batch is None else {"call": batch})
        await self._log.append(connection, tenant, by, "member invited", id, **content)
        if mailed:
            await self._mails.queue_invitation(connection, member, batch)
        return member

    invite = in_transaction(invite_within)

    async def list(self, tenant: TenantId) -> list[Member]:
        """Return all members, including removed ones, sorted by name."""
        return await self._database.select(Member, _SELECT_MEMBERS, tenant)

    async def list_reviewers(self, tenant: TenantId) -> builtins.list[Member]:
        """Return the current reviewers, sorted by name."""
        return await self._database.select(Member, _SELECT_REVIEWERS, tenant)

    async def get(self, tenant: TenantId, id: MemberId) -> Member | None:
        return await self._database.select_one(Member, _SELECT_MEMBER, tenant, id)

    async def find_by_email(self, tenant: TenantId, email: str) -> Member | None:
        """Return the current member with this address, ignoring case; None if there is none."""
        return await self._database.select_one(Member, _SELECT_BY_EMAIL, tenant, replace_nul(email))

    async def get_within(self, connection: Connection, tenant: TenantId, id: MemberId) -> Member | None:
        return await select_one(connection, Member, _SELECT_MEMBER, tenant, id)

    @in_transaction
    async def change(
        self, connection: Connection, tenant: TenantId, id: MemberId, fields: Mapping[str, Any], by: ActBy
    ) -> Member | None:
        """Change the given fields of a member; the other fields are unchanged. Return None if the member does not exist
        or was removed. Raises ReviewRefused if another member has the new address, if the actor's role does not allow
        the change, or if no owner would be left."""
        role, email = fields.get("role", "as before"), fields.get("email")
        current = await self._lock_member(connection, tenant, id, by.actor, role, email)
        if current is None:
            return None
        new_values = NewMember(**current.model_dump(include=set(NewMember.model_fields)) | dict(fields))
        try:
            member = await select_one(connection, Member, _UPDATE_MEMBER, tenant, id, *_make_columns(new_values))
        except asyncpg.UniqueViolationError:
            raise ReviewRefused(f"The email address {email} belongs to another member.") from None
        if is_different_address(current.email, email):
            await connection.execute(_DELETE_SIGN_IN_LINKS, id)
        if not new_values.receives_email:
            await self._mails.delete_pending(connection, id)
        await self._log.append(connection, tenant, by, "member changed", id, **new_values.model_dump())
        return member

    @in_transaction
    async def set_receives_email(
        self, connection: Connection, tenant: TenantId, id: MemberId, receives_email: bool, by: ActBy
    ) -> None:
        """Set whether a member wants emails, and change nothing else."""
        if await connection.fetchrow(_SET_RECEIVES_EMAIL, tenant, id, receives_email) is None:
            return
        if not receives_email:
            await self._mails.delete_pending(connection, id)
        await self._log.append(connection, tenant, by, "member changed", id, receives_email=receives_email)

    @in_transaction
    async def remove(self, connection: Connection, tenant: TenantId, id: MemberId, by: ActBy) -> Member | None:
        """Remove a member. Their keys and sessions stop working immediately, and their expertise and declared conflicts
        of interest are deleted; their opinions are kept. Return None if the member does not exist or was removed
        before. Raises ReviewRefused if the actor's role does not allow this, or if no owner would be left."""
        if await self._lock_member(connection, tenant, id, by.actor, "removed") is None:
            return None
        member = await select_one(connection, Member, _REMOVE_MEMBER, tenant, id, by.at)
        await connection.execute("DELETE FROM expertise WHERE member = $1", id)
        await self._mails.delete_pending(connection, id)
        await self._log.append(connection, tenant, by, "member removed", id)
        return member

    @in_transaction
    async def give_key(
        self, connection: Connection, tenant: TenantId, id: MemberId, key: GeneratedKey, by: ActBy
    ) -> Member | None:
        """Give a member a new key and revoke all earlier ones. Return None if the member does not exist or was removed.
        Raises ReviewRefused if the actor's role does not allow this."""
        member = await self._lock_member(connection, tenant, id, by.actor)
        if member is None:
            return None
        await connection.execute(_REVOKE_KEYS, id, by.at)
        scopes = sorted(get_role_scopes(member.role))
        await connection.execute(_INSERT_KEY, key.id, tenant, member.name, hash_key(key.secret), scopes, id)
        # Logged because the person who creates the key can see and use it.
        await self._log.append(connection, tenant, by, "key given", id, key=key.id, shown_to=by.actor.name)
        return member

    async def _lock_member(
        self,
        connection: Connection,
        tenant: TenantId,
        id: MemberId,
        actor: Actor,
        new_role: PersonRole | Literal["as before", "removed"] = "as before",
        email: str | None = None,
    ) -> Member | None:
        """Return a member and lock their row until the transaction ends; None if they do not exist or were removed.
        Raises ReviewRefused if the actor may not change the member (their role may have changed since the request
        began), or if the tenant would be left without an owner."""
        members_by_id = {
            row["id"]: from_row(Member, row) for row in await connection.fetch(_LOCK_MEMBERS, tenant, [id, actor.id])
        }
        acting, target = members_by_id.get(MemberId(actor.id)), members_by_id.get(id)
        if acting is not None and (acting.removed_at is not None or not may(acting.role, "invite people")):
            raise ReviewRefused("Your role has changed, so you can no longer manage members.")
        if target is None or target.removed_at is not None:
            return None
        role = (actor if acting is None else acting).role
        if "owner" in (target.role, new_role) and role not in ("owner", "machine"):
            raise ReviewRefused("Only an owner can appoint, change or remove an owner.")
        other_owners = [
            member
            for member in members_by_id.values()
            if member.id != id and member.role == "owner" and member.removed_at is None
        ]
        if target.role == "owner" and new_role not in ("owner", "as before") and not other_owners:
            raise ReviewRefused(f"{target.name} is the only owner. Make another member an owner first.")
        if is_different_address(target.email, email) and not may(role, "change addresses"):
            raise ReviewRefused(ADDRESS_CHANGE_REFUSAL)
        return target

    async def was_invited_by(self, id: MemberId, actor: Actor) -> bool:
        return bool(await self._database.fetch(_SELECT_INVITED_BY, id, actor.id))

    async def was_removed(self, tenant: TenantId, issuer: str, subject: str, email: str) -> bool:
        """Return whether a member with this identity or address was ever removed, even if they were invited again."""
        return bool(await self._database.fetch(_SELECT_REMOVED, tenant, issuer, subject, email))

    @in_transaction
    async def find_or_bind_identity(
        self, connection: Connection, tenant: TenantId, issuer: str, subject: str, email: str | None, by: ActBy
    ) -> Member | None:
        """Return the member who signs in with this identity at an identity provider. Normally this is the member bound
        to the identity. At the first sign-in, it is the member invited under `email`, an address that the provider has
        verified. That member is then bound to the identity, even if the address changes later; the audit log records
        the binding."""
        member = await select_one(connection, Member, _SELECT_BY_IDENTITY, tenant, issuer, subject)
        if member is None and email is not None:
            member = await select_one(connection, Member, _BIND_IDENTITY, tenant, issuer, subject, email)
            if member is not None:
                account = {"issuer": issuer, "subject": subject, "email": email}
                await self._log.append(connection, tenant, by, "account bound", member.id, **account)
        return member


def is_different_address(old_address: str, new_address: str | None) -> bool:
    """Return whether a new address differs from the old one, ignoring case. If so, another person could sign in with
    it."""
    return new_address is not None and new_address.lower() != old_address.lower()


def _make_columns(member: NewMember) -> tuple[str, str, str, str, bool]:
    return (
        replace_nul(member.name),
        replace_nul(member.email),
        replace_nul(member.affiliation),
        member.role,
        member.receives_email,
    )
