"""Routes `/v1/members`: the people of a tenant, their roles, and the keys with which they sign in."""

from fastapi import APIRouter
from fastapi.responses import Response

from assayer_client.accounts import NewKey
from assayer_client.people import MemberBody, MemberPatch
from assayer_client.resources import Page
from orchestrator.access.roles import MemberId
from orchestrator.api.acting import Inviter, KeyGiver, PeopleReader
from orchestrator.mail.models import Mail
from orchestrator.reviewing.models import Member
from orchestrator.services import members
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import ServicesDependency

router = APIRouter(prefix="/v1/members", tags=["members"])


@router.post("", status_code=201)
async def invite_member(body: MemberBody, caller: Inviter, services: ServicesDependency) -> Member:
    """Invite a person as a member. They sign in through an identity provider, by this address, or with their own
    key. Repeating the request creates no second member."""
    id = MemberId(services.new_id("mb"))
    return await members.invite_member(services.members, caller.tenant, id, body, services.by(caller))


@router.get("")
async def list_members(caller: PeopleReader, services: ServicesDependency) -> Page[Member]:
    """List the tenant's members by name, including removed members."""
    return Page(items=tuple(await services.members.list(caller.tenant)), next=None)


@router.get("/{id}")
async def get_member(id: PathId, caller: PeopleReader, services: ServicesDependency) -> Member:
    """One person."""
    return await members.get_member(services.members, caller.tenant, id)


@router.get("/{id}/mails")
async def list_member_mails(id: PathId, caller: PeopleReader, services: ServicesDependency) -> Page[Mail]:
    """List mails to a member, newest first: whether the mail server accepted them, and why delivery was abandoned.
    Kept for a week."""
    member = await members.get_member(services.members, caller.tenant, id)
    return Page(items=tuple(await services.mails.of_member(caller.tenant, member.id)), next=None)


@router.patch("/{id}")
async def update_member(id: PathId, body: MemberPatch, caller: Inviter, services: ServicesDependency) -> Member:
    """Change the fields in the body. A new role applies from the next request, also in open sessions. Only owners
    change an address, because the first person to sign in by it is taken for this member."""
    fields = body.model_dump(exclude_unset=True)
    return await members.change_member(services.members, caller.tenant, id, fields, services.by(caller))


@router.delete("/{id}")
async def remove_member(id: PathId, caller: Inviter, services: ServicesDependency) -> Member:
    """Remove a member. Their keys and sessions end at once; their opinions stay, with their name on them."""
    return await members.remove_member(services.members, caller.tenant, id, services.by(caller))


@router.post("/{id}/key", status_code=201, response_model=NewKey)
async def create_member_key(id: PathId, caller: KeyGiver, services: ServicesDependency) -> Response:
    """Create a key with which a member signs in and acts in their role; hand it only to them. It replaces any
    earlier key. The audit log records who issued it, and could have read it."""
    key = await members.give_key(services.members, caller.tenant, id, services.by(caller))
    return Response(key.model_dump_json(), 201, {"Cache-Control": "no-store"}, "application/json")
