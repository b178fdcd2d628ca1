"""Management of a tenant's members: invitations, changes, removal and keys."""

from typing import Any

from assayer_client.accounts import NewKey
from assayer_client.people import MemberBody
from orchestrator.access.api_keys import generate_key
from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.access.roles import MemberId, PersonRole, may
from orchestrator.access.sessions import get_role_scopes
from orchestrator.jobs.models import TenantId
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.reviewing.models import Member, NewMember
from orchestrator.store.members import ADDRESS_CHANGE_REFUSAL, PgMembers, is_different_address

_OWNER_ROLES = ("owner", "machine")


async def get_member(members: PgMembers, tenant: TenantId, id: str) -> Member:
    """Return a member, who may have been removed. Raises HttpProblem if there is none with this id."""
    return require(await members.get(tenant, MemberId(id)), build_not_found_problem("member", id))


async def invite_member(members: PgMembers, tenant: TenantId, id: MemberId, body: MemberBody, by: ActBy) -> Member:
    """Create a member with this id and notify them by email. Repeating the same invitation returns the existing member.
    Raises HttpProblem if another member has the address, or if the actor may not invite someone with this role."""
    _check_rank(by.actor, body.role)
    new_member = NewMember(**body.model_dump())
    invitation = await members.invite(tenant, id, new_member, by, mailed=True)
    if invitation is not None:
        return invitation
    member = await members.find_by_email(tenant, new_member.email)
    if member is not None and NewMember(**member.model_dump(include=set(NewMember.model_fields))) == new_member:
        return member
    raise HttpProblem("conflict", f"The email address {body.email} already belongs to a member.")


async def change_member(members: PgMembers, tenant: TenantId, id: str, fields: dict[str, Any], by: ActBy) -> Member:
    """Change a member's fields. Only owners may change a role or an address. Raises HttpProblem if the member does not
    exist or the actor may not make the change, and ReviewRefused in the same cases as `PgMembers.change`."""
    stored_member = await get_member(members, tenant, id)
    _check_rank(by.actor, stored_member.role)
    if fields.get("role", stored_member.role) != stored_member.role and by.actor.role not in _OWNER_ROLES:
        raise HttpProblem("forbidden", "Only an owner can change a member's role.")
    if is_different_address(stored_member.email, fields.get("email")) and not may(by.actor.role, "change addresses"):
        raise HttpProblem("forbidden", ADDRESS_CHANGE_REFUSAL)
    return require(await members.change(tenant, stored_member.id, fields, by), build_not_found_problem("member", id))


async def remove_member(members: PgMembers, tenant: TenantId, id: str, by: ActBy) -> Member:
    """Remove a member, and invalidate their keys and sessions. Raises HttpProblem if the member does not exist or the
    actor may not remove them, and ReviewRefused in the same cases as `PgMembers.remove`."""
    _check_rank(by.actor, (await get_member(members, tenant, id)).role)
    return require(await members.remove(tenant, MemberId(id), by), build_not_found_problem("member", id))


async def issue_key(members: PgMembers, tenant: TenantId, id: str, by: ActBy) -> NewKey:
    """Create a key for a member, and return it with its secret. It replaces the member's earlier key. Raises
    HttpProblem if the member does not exist or was removed."""
    stored_member = await get_member(members, tenant, id)
    key = generate_key()
    member = await members.give_key(tenant, stored_member.id, key, by)
    if member is None:
        raise HttpProblem("conflict", f"{stored_member.name} is no longer a member.")
    return NewKey(
        id=key.id,
        tenant=member.tenant,
        name=member.name,
        scopes=tuple(sorted(get_role_scopes(member.role))),
        requests_per_minute=None,
        expires_at=None,
        secret=key.secret,
    )


def _check_rank(actor: Actor, role: PersonRole) -> None:
    """Raise HttpProblem unless the actor may create, change and remove members with this role. Only owners may do so
    for other owners."""
    if role == "owner" and actor.role not in _OWNER_ROLES:
        raise HttpProblem("forbidden", "Only an owner can appoint, change or remove an owner.")
