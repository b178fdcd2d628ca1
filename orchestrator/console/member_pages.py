"""`/console/members`: who works here, in which role; invited, changed, given a key, removed."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from assayer.models import Frozen
from orchestrator.access.roles import PersonRole
from orchestrator.access.sessions import scopes_of_role
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.problems import HttpProblem
from orchestrator.api.routes import members
from orchestrator.api.routes.keys import NewKey
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import KeyId
from orchestrator.reviewing.models import Member, ReviewRefused

__all__ = ["GivenMember", "MemberForm", "caller_of", "checked_form", "router"]

B = TypeVar("B", bound=BaseModel)

router = APIRouter(prefix="/console/members", tags=["pages"], include_in_schema=False)

PeopleReader = Annotated[SignedIn, Depends(allowed_to("see people"))]
Inviter = Annotated[SignedIn, Depends(allowed_to("invite people"))]
KeyGiver = Annotated[SignedIn, Depends(allowed_to("give keys"))]
_MAILS = 10
_Field = Annotated[str, Form(max_length=1_000)]
_RULES = {
    "name": "A name has 1 to 200 characters.",
    "email": "An address reads name@example.org.",
    "affiliation": "Institutions have 500 characters at most, on one line.",
    "role": "The role is owner, officer, reviewer or auditor.",
}


class MemberForm(Frozen):
    """What stands in the fields."""

    name: str = ""
    email: str = ""
    affiliation: str = ""
    role: str = "reviewer"


def caller_of(who: SignedIn) -> AuthenticatedCaller:
    """As routes of the API know them, whose rules then hold for pages too."""
    return AuthenticatedCaller(who.tenant, KeyId(who.subject), scopes_of_role(who.role), None, who.name, who.role)


def _given(name: _Field = "", email: _Field = "", affiliation: _Field = "", role: _Field = "") -> MemberForm:
    return MemberForm(name=name.strip(), email=email.strip(), affiliation=affiliation.strip(), role=role)


GivenMember = Annotated[MemberForm, Depends(_given)]


@router.get("")
async def listed(request: Request, who: PeopleReader, services: ServicesDependency) -> Response:
    """By name; those who were removed come last."""
    return await _list(request, who, services, MemberForm())


@router.post("")
async def invite(request: Request, who: Inviter, services: ServicesDependency, given: GivenMember) -> Response:
    try:
        member = await members.invite(_body(given), caller_of(who), services)
    except HttpProblem as problem:
        return await _list(request, who, services, given, problem)
    return RedirectResponse(f"/console/members#{member.id}", 303)


@router.get("/{id}")
async def one(id: PathId, request: Request, who: Inviter, services: ServicesDependency) -> Response:
    """What can be changed about somebody."""
    member = await _member(services, who, id)
    given = MemberForm(**member.model_dump(include=set(MemberForm.model_fields)))
    return await _shown(request, who, services, member, given)


@router.post("/{id}")
async def change(
    id: PathId, request: Request, who: Inviter, services: ServicesDependency, given: GivenMember
) -> Response:
    member = await _member(services, who, id)
    try:
        body = members.MemberPatch(**_body(given).model_dump(exclude={"mails"}))
        await members.change(member.id, body, caller_of(who), services)
    except HttpProblem as problem:
        return await _shown(request, who, services, member, given, problem)
    except ReviewRefused as refusal:
        return await _shown(request, who, services, member, given, HttpProblem("conflict", str(refusal)))
    return RedirectResponse(f"/console/members#{member.id}", 303)


@router.post("/{id}/key")
async def give_key(id: PathId, request: Request, who: KeyGiver, services: ServicesDependency) -> Response:
    """The answer is the one page that ever shows it."""
    member = await _member(services, who, id)
    made = await members.give_key(member.id, caller_of(who), services)
    return page_response(
        "member_key.html", request, who, member=member, key=NewKey.model_validate_json(bytes(made.body))
    )


@router.get("/{id}/remove")
async def ask_remove(id: PathId, request: Request, who: Inviter, services: ServicesDependency) -> Response:
    """Asks first, with what would stay open."""
    member = await _member(services, who, id)
    assigned = await services.assignments.queue(who.tenant, member=member.id, batch=None)
    open_ones = sum(one.opinion == "none" for one in assigned)
    return page_response("member_remove.html", request, who, member=member, open_assignments=open_ones)


@router.post("/{id}/remove")
async def remove(id: PathId, who: Inviter, services: ServicesDependency) -> Response:
    member = await _member(services, who, id)
    await members.remove(member.id, caller_of(who), services)
    return RedirectResponse("/console/members", 303)


async def _list(
    request: Request, who: SignedIn, services: Services, given: MemberForm, problem: HttpProblem | None = None
) -> Response:
    found = await services.members.list(who.tenant)
    return page_response(
        "members.html",
        request,
        who,
        status=problem.status_code if problem else 200,
        members=sorted(found, key=lambda member: member.removed_at is not None),
        mailed=services.mails.enabled,
        unmailed=await services.mails.given_up(who.tenant),
        roles=_roles(who),
        given=given,
        fault=problem.detail if problem else "",
    )


async def _shown(
    request: Request,
    who: SignedIn,
    services: Services,
    member: Member,
    given: MemberForm,
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
        given=given,
        fault=problem.detail if problem else "",
    )


def _roles(who: SignedIn) -> tuple[PersonRole, ...]:
    """That they may give."""
    others: tuple[PersonRole, ...] = ("officer", "reviewer", "auditor")
    return ("owner", *others) if who.role == "owner" else others


async def _member(services: Services, who: SignedIn, id: str) -> Member:
    """Somebody whom they may change. Raises HttpProblem."""
    member = await members.one(id, caller_of(who), services)
    if member.role == "owner" and who.role != "owner":
        raise HttpProblem("forbidden", "Only an owner may change or remove an owner.")
    if member.removed_at is not None:
        raise HttpProblem("conflict", f"{member.name} is no member any more.")
    return member


def _body(given: MemberForm) -> members.MemberBody:
    """Raises HttpProblem."""
    return checked_form(members.MemberBody, given.model_dump())


def checked_form(body: type[B], given: Mapping[str, str]) -> B:
    """Raises HttpProblem with a sentence for each field that cannot be."""
    try:
        return body.model_validate(given)
    except ValidationError as error:
        fields = dict.fromkeys(str(one["loc"][0]) for one in error.errors())
        raise HttpProblem("invalid-request", " ".join(_RULES[field] for field in fields)) from None
