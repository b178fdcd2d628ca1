"""`/v1/members`: the people of a tenant, their roles, and the keys with which they sign in."""

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from pydantic import Field

from orchestrator.access.roles import MemberId, PersonRole, may
from orchestrator.access.sessions import scopes_of_role
from orchestrator.api.acting import Inviter, KeyGiver, PeopleReader, actor_of
from orchestrator.api.common_schemas import Body, Page
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem, not_found
from orchestrator.api.routes.keys import NewKey
from orchestrator.api.routes.tenants import Name
from orchestrator.api.services import ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller, generate_key
from orchestrator.mail.models import Mail
from orchestrator.reviewing.models import Member, NewMember
from orchestrator.store.members import FOR_OWNERS, other_address

__all__ = ["Affiliation", "Email", "MemberBody", "MemberPatch", "router"]

Email = Annotated[str, Field(pattern=r"^[^@\s\x00-\x1f]{1,64}@[^@\s\x00-\x1f]{1,189}$")]
Affiliation = Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x1f]*$")]


class MemberBody(Body):
    name: Name
    email: Email
    """By it they are known when they first sign in with an identity provider."""
    affiliation: Affiliation = ""
    """Institutions, separated by semicolons: proposals from there are not assigned to them."""
    role: PersonRole
    mails: bool = True
    """Whether they are told by mail: of the invitation, of proposals assigned to them, of calls of theirs that have
    finished. Only where the service sends mails."""


class MemberPatch(Body):
    """The members given replace the current values."""

    name: Name = ""
    email: Email = ""
    affiliation: Affiliation = ""
    role: PersonRole = "reviewer"
    mails: bool = True


router = APIRouter(prefix="/v1/members", tags=["members"])


@router.post(
    "", status_code=201, responses=problem_responses(400, 409, 413, 415, 422), dependencies=[Depends(json_only)]
)
async def invite(body: MemberBody, caller: Inviter, services: ServicesDependency) -> Member:
    """Makes somebody a member. They sign in with an identity provider, by this address, or with a key of their own.
    Sent again, it makes no second one."""
    _check_rank(caller, body.role)
    new, now = NewMember(**body.model_dump()), services.clock.now()
    id = MemberId(services.new_id("mb"))
    made = await services.members.invite(caller.tenant, id, new, actor_of(caller), now, mailed=True)
    if made is not None:
        return made
    for one in await services.members.list(caller.tenant):
        if one.removed_at is None and NewMember(**one.model_dump(include=set(NewMember.model_fields))) == new:
            return one
    raise HttpProblem("conflict", f"Somebody with the address {body.email} is a member already.")


@router.get("", responses=problem_responses())
async def listed(caller: PeopleReader, services: ServicesDependency) -> Page[Member]:
    """One's people, by name, removed ones included."""
    return Page(items=tuple(await services.members.list(caller.tenant)), next=None)


@router.get("/{id}", responses=problem_responses(404, 422))
async def one(id: PathId, caller: PeopleReader, services: ServicesDependency) -> Member:
    """One person."""
    return await _found(services, caller, id)


@router.get("/{id}/mails", responses=problem_responses(404, 422))
async def mails(id: PathId, caller: PeopleReader, services: ServicesDependency) -> Page[Mail]:
    """Mails to one person, the newest first: whether the mail server took them, and why one was given up. Kept for a
    week."""
    member = await _found(services, caller, id)
    return Page(items=tuple(await services.mails.of_member(caller.tenant, member.id)), next=None)


@router.patch("/{id}", responses=problem_responses(400, 404, 409, 413, 415, 422), dependencies=[Depends(json_only)])
async def change(id: PathId, body: MemberPatch, caller: Inviter, services: ServicesDependency) -> Member:
    """Changes the members given. A new role holds from the next request on, in open sessions too. Only owners change an
    address: whoever signs in first by it is taken for this person."""
    before = await _found(services, caller, id)
    _check_rank(caller, before.role)
    fields = body.model_dump(exclude_unset=True)
    _check_rank(caller, fields.get("role", before.role))
    if other_address(before.email, fields.get("email")) and not may(caller.role, "change addresses"):
        raise HttpProblem("forbidden", FOR_OWNERS)
    changed = await services.members.change(caller.tenant, before.id, fields, actor_of(caller), services.clock.now())
    if changed is None:
        raise not_found("member", id)
    return changed


@router.delete("/{id}", responses=problem_responses(404, 422))
async def remove(id: PathId, caller: Inviter, services: ServicesDependency) -> Member:
    """Their keys and sessions end at once. Their opinions stay, and so does their name on them."""
    _check_rank(caller, (await _found(services, caller, id)).role)
    removed = await services.members.remove(caller.tenant, MemberId(id), actor_of(caller), services.clock.now())
    if removed is None:
        raise not_found("member", id)
    return removed


@router.post("/{id}/key", status_code=201, response_model=NewKey, responses=problem_responses(404, 422))
async def give_key(id: PathId, caller: KeyGiver, services: ServicesDependency) -> Response:
    """A key with which they sign in and act, in their role: to be handed to them and to nobody else. It takes the
    place of any that they had. The audit log says who gave it, and so could have read it."""
    found = await _found(services, caller, id)
    key = generate_key()
    member = await services.members.give_key(caller.tenant, found.id, key, actor_of(caller), services.clock.now())
    if member is None:
        raise HttpProblem("conflict", f"{found.name} is no member any more.")
    shown = NewKey(
        id=key.id,
        tenant=member.tenant,
        name=member.name,
        scopes=tuple(sorted(scopes_of_role(member.role))),
        requests_per_minute=None,
        expires_at=None,
        secret=key.secret,
    )
    return Response(shown.model_dump_json(), 201, {"Cache-Control": "no-store"}, "application/json")


async def _found(services: ServicesDependency, caller: AuthenticatedCaller, id: str) -> Member:
    found = await services.members.get(caller.tenant, MemberId(id))
    if found is None:
        raise not_found("member", id)
    return found


def _check_rank(caller: AuthenticatedCaller, role: PersonRole) -> None:
    """Only owners make, change and remove owners. Raises HttpProblem."""
    if role == "owner" and caller.role not in ("owner", "machine"):
        raise HttpProblem("forbidden", "Only an owner may make, change or remove an owner.")
