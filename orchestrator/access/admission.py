"""Who of those whom an identity provider knows may come in, and in which role."""

from orchestrator.access.audit_chain import Actor
from orchestrator.access.identity_provider import Identity, IdentityProvider
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.api.services import Services
from orchestrator.jobs.models import TenantId
from orchestrator.reviewing.models import Member, NewMember
from orchestrator.settings import IdentityProviderSettings

__all__ = ["admitted", "role_of_groups"]

_BY_RANK: tuple[PersonRole, ...] = ("owner", "officer", "auditor", "reviewer")


async def admitted(services: Services, provider: IdentityProvider, identity: Identity) -> Member | None:
    """Members of the tenant that the provider is for: invited by an address that it has verified, or in a group that
    has a role. The role of a group holds from each sign-in on. None for anybody else."""
    settings, now = provider.settings, services.clock.now()
    tenant = TenantId(settings.tenant)
    actor = Actor(f"provider:{provider.name}", provider.name, "machine")
    role = role_of_groups(settings, identity.groups)
    member = await services.members.of_identity(tenant, identity.issuer, identity.subject, identity.email)
    if member is None:
        if role is None or identity.email is None:
            return None
        new = NewMember(name=identity.name, email=identity.email, role=role)
        id = MemberId(services.new_id("mb"))
        if await services.members.invite(tenant, id, new, actor, now) is None:
            return None
        return await services.members.of_identity(tenant, identity.issuer, identity.subject, identity.email)
    if role is None:
        return None if await services.members.was_invited_by(member.id, actor) else member
    if role != member.role:
        return await services.members.change(tenant, member.id, {"role": role}, actor, now)
    return member


def role_of_groups(settings: IdentityProviderSettings, groups: tuple[str, ...]) -> PersonRole | None:
    """The highest of those that the groups have; None where no group has one."""
    found = {settings.roles[group] for group in groups if group in settings.roles}
    return next((role for role in _BY_RANK if role in found), None)
