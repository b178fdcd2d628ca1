"""Admission of people authenticated by an identity provider: which member they are, and with which role."""

import datetime as dt
import logging

from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.access.identity_provider import Identity, IdentityProvider
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.identifiers import IdGenerator
from orchestrator.jobs.models import TenantId
from orchestrator.reviewing.models import Member, NewMember, ReviewRefused
from orchestrator.settings import IdentityProviderSettings
from orchestrator.store.members import PgMembers

_LOG = logging.getLogger(__name__)
_ROLES_BY_RANK: tuple[PersonRole, ...] = ("owner", "officer", "auditor", "reviewer")


async def admit_person(
    members: PgMembers, provider: IdentityProvider, identity: Identity, new_id: IdGenerator, now: dt.datetime
) -> Member | None:
    """Return the member who has signed in, or None if the person is not admitted. Two kinds of people are admitted to
    the provider's tenant: those invited under an address that the provider has verified, and those in a group that has
    a role, who become members. At each sign-in, members admitted through a group get the group's current role; members
    invited by a person keep their role. Removed members are not admitted until they are invited again."""
    tenant = TenantId(provider.settings.tenant)
    by = ActBy(Actor(f"provider:{provider.name}", provider.name, "machine"), now)
    account = (tenant, identity.issuer, identity.subject, identity.email)
    role = get_role_of_groups(provider.settings, identity.groups)
    member = await members.find_or_bind_identity(*account, by)
    if member is not None:
        if not await members.was_invited_by(member.id, by.actor):
            return member
        return None if role is None else await _change_role(members, member, role, by)
    if role is None or identity.email is None:
        return None
    if await members.was_removed(tenant, identity.issuer, identity.subject, identity.email):
        return None
    new_member = NewMember(name=identity.name, email=identity.email, role=role)
    if await members.invite(tenant, MemberId(new_id("mb")), new_member, by) is None:
        return None
    return await members.find_or_bind_identity(*account, by)


async def _change_role(members: PgMembers, member: Member, role: PersonRole, by: ActBy) -> Member | None:
    if role == member.role:
        return member
    try:
        return await members.change(member.tenant, member.id, {"role": role}, by)
    except ReviewRefused as error:  # they are the only owner
        _LOG.warning(
            "a member keeps their role although their groups at %s have a different one: %s", by.actor.name, error
        )
        return member


def get_role_of_groups(settings: IdentityProviderSettings, groups: tuple[str, ...]) -> PersonRole | None:
    """Return the highest role of any of the groups; None if no group has a role."""
    roles = {settings.roles[group] for group in groups if group in settings.roles}
    return next((role for role in _ROLES_BY_RANK if role in roles), None)
