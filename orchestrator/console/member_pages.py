"""Pages `/console/members`: the people of a tenant and their roles; invite, change, issue a key, remove."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, StringConstraints, ValidationError
from starlette.responses import Response

from assayer.models import Frozen
from assayer_client.people import MemberBody, MemberPatch
from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.console.scripted_page import page_response
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import Member, ReviewRefused
from orchestrator.services import members
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import allowed_to

B = TypeVar("B", bound=BaseModel)

router = APIRouter(prefix="/console/members", tags=["pages"], include_in_schema=False)

PeopleReader = Annotated[Caller, Depends(allowed_to("see people"))]
Inviter = Annotated[Caller, Depends(allowed_to("invite people"))]
KeyGiver = Annotated[Caller, Depends(allowed_to("give keys"))]
_MAILS = 10
_Field = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]
_RULES = {
    "name": "A name has 1 to 200 characters.",
    "email": "An address reads name@example.org.",
    "affiliation": "Institutions have 500 characters at most, on one line.",
    "role": "The role is owner, officer, reviewer or auditor.",
}


class MemberForm(Frozen, extra="ignore"):
    """Values of the form's fields."""

    name: _Field = ""
    email: _Field = ""
    affiliation: _Field = ""
    role: _Field = "reviewer"


GivenMember = Annotated[MemberForm, Form()]


@router.get("")
async def listed(request: Request, who: PeopleReader, services: ServicesDependency) -> Response:
    """List members by name; removed members come last."""
    return await _list(request, who, services, MemberForm())


@router.post("")
async def invite(request: Request, who: Inviter, services: ServicesDependency, form: GivenMember) -> Response:
    try:
        member = await members.invite_member(
            services.members,
            who.tenant,
            MemberId(services.new_id("mb")),
            _body(form),
            who.actor,
            services.clock.now(),
        )
    except HttpProblem as problem:
        return await _list(request, who, services, form, problem)
    return RedirectResponse(f"/console/members#{member.id}", 303)


@router.get("/{id}")
async def one(id: PathId, request: Request, who: Inviter, services: ServicesDependency) -> Response:
    """Show the member's details that can be changed."""
    member = await _member(services, who, id)
    form = MemberForm(**member.model_dump(include=set(MemberForm.model_fields)))
    return await _shown(request, who, services, member, form)


@router.post("/{id}")
async def change(
    id: PathId, request: Request, who: Inviter, services: ServicesDependency, form: GivenMember
) -> Response:
    member = await _member(services, who, id)
    try:
        fields = MemberPatch(**_body(form).model_dump(exclude={"mails"})).model_dump(exclude_unset=True)
        await members.change_member(services.members, who.tenant, member.id, fields, who.actor, services.clock.now())
    except HttpProblem as problem:
        return await _shown(request, who, services, member, form, problem)
    except ReviewRefused as refusal:
        return await _shown(request, who, services, member, form, HttpProblem("conflict", str(refusal)))
    return RedirectResponse(f"/console/members#{member.id}", 303)


@router.post("/{id}/key")
async def give_key(id: PathId, request: Request, who: KeyGiver, services: ServicesDependency) -> Response:
    """Create a key for a member. This response is the only page that ever shows it."""
    member = await _member(services, who, id)
    key = await members.give_key(services.members, who.tenant, member.id, who.actor, services.clock.now())
    return page_response("member_key.html", request, who, member=member, key=key)


@router.get("/{id}/remove")
async def ask_remove(id: PathId, request: Request, who: Inviter, services: ServicesDependency) -> Response:
    """Ask for confirmation, with the assignments that would remain open."""
    member = await _member(services, who, id)
    assigned = await services.reviewing.assignments.queue(who.tenant, member=member.id, batch=None)
    open_ones = sum(item.opinion == "none" for item in assigned)
    return page_response("member_remove.html", request, who, member=member, open_assignments=open_ones)


@router.post("/{id}/remove")
async def remove(id: PathId, who: Inviter, services: ServicesDependency) -> Response:
    member = await _member(services, who, id)
    await members.remove_member(services.members, who.tenant, member.id, who.actor, services.clock.now())
    return RedirectResponse("/console/members", 303)


async def _list(
    request: Request, who: Caller, services: Services, form: MemberForm, problem: HttpProblem | None = None
) -> Response:
    members = await services.members.list(who.tenant)
    return page_response(
        "members.html",
        request,
        who,
        status=problem.status_code if problem else 200,
        members=sorted(members, key=lambda member: member.removed_at is not None),
        mailed=services.mails.enabled,
        unmailed=await services.mails.given_up(who.tenant),
        roles=_roles(who),
        given=form,
        fault=problem.detail if problem else "",
    )


async def _shown(
    request: Request,
    who: Caller,
    services: Services,
    member: Member,
    form: MemberForm,
    problem: HttpProblem | None = None,
) -> Response:
    return page_response(
        "member.html",
        request,
        who,
        status=problem.status_code if problem else 200,
        member=member,
        mailed=services.mails.enabled,
        mails=await services.mails.of_member(who.tenant, member.id, _MAILS),
        roles=_roles(who),
        given=form,
        fault=problem.detail if problem else "",
    )


def _roles(who: Caller) -> tuple[PersonRole, ...]:
    """Return the roles that the person may assign."""
    others: tuple[PersonRole, ...] = ("officer", "reviewer", "auditor")
    return ("owner", *others) if who.role == "owner" else others


async def _member(services: Services, who: Caller, id: str) -> Member:
    """Return a member whom the person may change. Raises HttpProblem."""
    member = await members.get_member(services.members, who.tenant, id)
    if member.role == "owner" and who.role != "owner":
        raise HttpProblem("forbidden", "Only an owner may change or remove an owner.")
    if member.removed_at is not None:
        raise HttpProblem("conflict", f"{member.name} is no longer a member.")
    return member


def _body(form: MemberForm) -> MemberBody:
    """Raises HttpProblem."""
    return checked_form(MemberBody, form.model_dump())


def checked_form(body: type[B], form: Mapping[str, str]) -> B:
    """Validate the form. Raises HttpProblem with a sentence for each invalid field."""
    try:
        return body.model_validate(form)
    except ValidationError as error:
        fields = dict.fromkeys(str(item["loc"][0]) for item in error.errors())
        raise HttpProblem("invalid-request", " ".join(_RULES[field] for field in fields)) from None
