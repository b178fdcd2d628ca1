"""Routes `/v1/members`: a tenant's people, their roles, and their personal keys."""

from fastapi import APIRouter
from fastapi.responses import Response

from assayer_client.accounts import NewKey
from assayer_client.people import MemberBody, MemberPatch
from assayer_client.resources import Page
from orchestrator.access.roles import MemberId
from orchestrator.api.permissions import Inviter, KeyIssuer, PeopleReader
from orchestrator.mail.models import EmailDelivery
from orchestrator.reviewing.models import Member
from orchestrator.services import members
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/v1/members", tags=["members"])


@router.post("", status_code=201)
async def invite_member(body: MemberBody, context: Inviter) -> Member:
    """Invite a person as a member. They sign in through an identity provider with this address, or with a personal key.
    Repeating the request does not create a second member."""
    id = MemberId(context.services.new_id("mb"))
    return await members.invite_member(context.services.members, context.tenant, id, body, context.by)


@router.get("")
async def list_members(context: PeopleReader) -> Page[Member]:
    """List the tenant's members by name, including removed ones."""
    return Page(items=tuple(await context.services.members.list(context.tenant)), next=None)


@router.get("/{id}")
async def get_member(id: PathId, context: PeopleReader) -> Member:
    """Return a member."""
    return await members.get_member(context.services.members, context.tenant, id)


@router.get("/{id}/emails")
async def list_member_emails(id: PathId, context: PeopleReader) -> Page[EmailDelivery]:
    """List the emails to a member in the past week, newest first. Each states whether the mail server accepted it and,
    if it was given up, why."""
    member = await members.get_member(context.services.members, context.tenant, id)
    return Page(items=tuple(await context.services.mails.list_for_member(context.tenant, member.id)), next=None)


@router.patch("/{id}")
async def update_member(id: PathId, body: MemberPatch, context: Inviter) -> Member:
    """Change the fields given in the body. A new role takes effect immediately, even in open sessions. Only owners can
    change an address, because whoever first signs in with it becomes this member."""
    fields = body.model_dump(exclude_unset=True)
    return await members.change_member(context.services.members, context.tenant, id, fields, context.by)


@router.delete("/{id}")
async def remove_member(id: PathId, context: Inviter) -> Member:
    """Remove a member. Their keys and sessions stop working immediately; their opinions are kept under their name."""
    return await members.remove_member(context.services.members, context.tenant, id, context.by)


@router.post("/{id}/key", status_code=201, response_model=NewKey)
async def create_member_key(id: PathId, context: KeyIssuer) -> Response:
    """Create a key with which a member can sign in and act in their role. Give it only to that member. It replaces any
    earlier key. The audit log records who created it and so could have read it."""
    key = await members.issue_key(context.services.members, context.tenant, id, context.by)
    return Response(key.model_dump_json(), 201, {"Cache-Control": "no-store"}, "application/json")
