"""Who of those whom an identity provider knows may come in, and in which role."""

import logging

from orchestrator.access.audit_chain import Actor
from orchestrator.access.identity_provider import Identity, IdentityProvider
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.api.services import Services
from orchestrator.jobs.models import TenantId
from orchestrator.reviewing.models import Member, NewMember, ReviewRefused
from orchestrator.settings import IdentityProviderSettings

__all__ = ["admitted", "role_of_groups"]

_LOG = logging.getLogger(__name__)
_BY_RANK: tuple[PersonRole, ...] = ("owner", "officer", "auditor", "reviewer")


async def admitted(services: Services, provider: IdentityProvider, identity: Identity) -> Member | None:
    """Members of the tenant that the provider is for: invited by an address that it has verified, or in a group that
    has a role. A group's role holds from each sign-in on for whom a group has brought in; whom a person has invited
    keeps the role that people gave. None for anybody else, and for whom somebody has removed: only an invitation
    brings them back."""
    role = role_of_groups(provider.settings, identity.groups)
    member = await _member_of(services, provider, identity)
    if member is None:
        return None if role is None else await _brought_in(services, provider, identity, role)
    if not await services.members.was_invited_by(member.id, _actor(provider)):
        return member
    return None if role is None else await _with_role(services, provider, member, role)


async def _member_of(services: Services, provider: IdentityProvider, identity: Identity) -> Member | None:
    tenant, now = TenantId(provider.settings.tenant), services.clock.now()
    account = (identity.issuer, identity.subject, identity.email)
    return await services.members.of_identity(tenant, *account, _actor(provider), now)


async def _brought_in(
    services: Services, provider: IdentityProvider, identity: Identity, role: PersonRole
) -> Member | None:
    members, tenant = services.members, TenantId(provider.settings.tenant)
    if identity.email is None:
        return None
    if await members.was_removed(tenant, identity.issuer, identity.subject, identity.email):
        return None
    new = NewMember(name=identity.name, email=identity.email, role=role)
    id, now = MemberId(services.new_id("mb")), services.clock.now()
    if await members.invite(tenant, id, new, _actor(provider), now) is None:
        return None
    return await _member_of(services, provider, identity)


async def _with_role(services: Services, provider: IdentityProvider, member: Member, role: PersonRole) -> Member | None:
    if role == member.role:
        return member
    try:
        return await services.members.change(
            member.tenant, member.id, {"role": role}, _actor(provider), services.clock.now()
        )
    except ReviewRefused as error:  # the last owner
        _LOG.warning("the role that groups of %s give was not given: %s", provider.name, error)
        return member


def _actor(provider: IdentityProvider) -> Actor:
    return Actor(f"provider:{provider.name}", provider.name, "machine")


def role_of_groups(settings: IdentityProviderSettings, groups: tuple[str, ...]) -> PersonRole | None:
    """The highest of those that the groups have; None where no group has one."""
    found = {settings.roles[group] for group in groups if group in settings.roles}
    return next((role for role in _BY_RANK if role in found), None)
