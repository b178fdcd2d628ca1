"""Pages under `/console/members`: list, invite, change and remove a tenant's members, and create their keys."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, StringConstraints, ValidationError
from starlette.responses import Response

from assayer.models import Frozen
from assayer_client.people import MemberBody, MemberPatch
from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.console.page_context import Inviter, KeyIssuer, PageContext, PeopleReader
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import Member, ReviewRefused
from orchestrator.services import members
from orchestrator.web.path_parameters import PathId

B = TypeVar("B", bound=BaseModel)

router = APIRouter(prefix="/console/members", tags=["pages"], include_in_schema=False)

_MAX_EMAILS = 10
_Field = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]
_FIELD_ERRORS = {
    "name": "A name must be 1 to 200 characters long.",
    "email": "An email address must have the form name@example.org.",
    "affiliation": "Institutions must be on one line of at most 500 characters.",
    "role": "The role must be owner, officer, reviewer or auditor.",
}


class MemberForm(Frozen, extra="ignore", defer_build=False):
    """The form's values."""

    name: _Field = ""
    email: _Field = ""
    affiliation: _Field = ""
    role: _Field = "reviewer"


SubmittedMember = Annotated[MemberForm, Form()]


@router.get("")
async def list_members(context: PeopleReader) -> Response:
    """List members by name; removed members come last."""
    return await _render_members(context, MemberForm())


@router.post("")
async def invite_member(context: Inviter, form: SubmittedMember) -> Response:
    try:
        member = await members.invite_member(
            context.services.members,
            context.tenant,
            MemberId(context.services.new_id("mb")),
            _parse_form(form),
            context.by,
        )
    except HttpProblem as problem:
        return await _render_members(context, form, problem)
    return RedirectResponse(f"/console/members#{member.id}", 303)


@router.get("/{id}")
async def show_member(id: PathId, context: Inviter) -> Response:
    """Show the form to change a member's details."""
    member = await _get_changeable_member(context, id)
    form = MemberForm(**member.model_dump(include=set(MemberForm.model_fields)))
    return await _render_member(context, member, form)


@router.post("/{id}")
async def change_member(id: PathId, context: Inviter, form: SubmittedMember) -> Response:
    member = await _get_changeable_member(context, id)
    try:
        fields = MemberPatch(**_parse_form(form).model_dump(exclude={"receives_email"})).model_dump(exclude_unset=True)
        await members.change_member(context.services.members, context.tenant, member.id, fields, context.by)
    except HttpProblem as problem:
        return await _render_member(context, member, form, problem)
    except ReviewRefused as refusal:
        return await _render_member(context, member, form, HttpProblem("conflict", str(refusal)))
    return RedirectResponse(f"/console/members#{member.id}", 303)


@router.post("/{id}/key")
async def issue_key(id: PathId, context: KeyIssuer) -> Response:
    """Create a key for a member and show it. It is never shown again."""
    member = await _get_changeable_member(context, id)
    key = await members.issue_key(context.services.members, context.tenant, member.id, context.by)
    return context.render_page("member_key.html", member=member, key=key)


@router.get("/{id}/remove")
async def confirm_removal(id: PathId, context: Inviter) -> Response:
    """Ask for confirmation, and show how many assignments still need the member's opinion."""
    member = await _get_changeable_member(context, id)
    assigned = await context.reviewing.assignments.list_assignments(context.tenant, member=member.id, batch=None)
    open_assignments = sum(assignment.opinion == "none" for assignment in assigned)
    return context.render_page("member_remove.html", member=member, open_assignments=open_assignments)


@router.post("/{id}/remove")
async def remove_member(id: PathId, context: Inviter) -> Response:
    member = await _get_changeable_member(context, id)
    await members.remove_member(context.services.members, context.tenant, member.id, context.by)
    return RedirectResponse("/console/members", 303)


async def _render_members(context: PageContext, form: MemberForm, problem: HttpProblem | None = None) -> Response:
    members = await context.services.members.list(context.tenant)
    return context.render_page(
        "members.html",
        status=problem.status_code if problem else 200,
        members=sorted(members, key=lambda member: member.removed_at is not None),
        sends_email=context.services.mails.enabled,
        failed_emails=await context.services.mails.get_failure_reasons(context.tenant),
        roles=_list_assignable_roles(context.caller),
        form=form,
        fault=problem.detail if problem else "",
    )


async def _render_member(
    context: PageContext, member: Member, form: MemberForm, problem: HttpProblem | None = None
) -> Response:
    return context.render_page(
        "member.html",
        status=problem.status_code if problem else 200,
        member=member,
        sends_email=context.services.mails.enabled,
        emails=await context.services.mails.list_for_member(context.tenant, member.id, _MAX_EMAILS),
        roles=_list_assignable_roles(context.caller),
        form=form,
        fault=problem.detail if problem else "",
    )


def _list_assignable_roles(caller: Caller) -> tuple[PersonRole, ...]:
    """Return the roles that the signed-in person may assign."""
    roles: tuple[PersonRole, ...] = ("officer", "reviewer", "auditor")
    return ("owner", *roles) if caller.role == "owner" else roles


async def _get_changeable_member(context: PageContext, id: str) -> Member:
    """Return a member whom the signed-in person may change. Raises HttpProblem if the member does not exist, was
    removed, or is an owner and the person is not."""
    member = await members.get_member(context.services.members, context.tenant, id)
    if member.role == "owner" and context.caller.role != "owner":
        raise HttpProblem("forbidden", "Only an owner can change or remove an owner.")
    if member.removed_at is not None:
        raise HttpProblem("conflict", f"{member.name} is no longer a member.")
    return member


def _parse_form(form: MemberForm) -> MemberBody:
    """Convert the form to a request body. Raises HttpProblem if a field is invalid."""
    return validate_form(MemberBody, form.model_dump())


def validate_form(body: type[B], form: Mapping[str, str]) -> B:
    """Convert a form to a request body. Raises HttpProblem with a sentence for each invalid field."""
    try:
        return body.model_validate(form)
    except ValidationError as error:
        fields = dict.fromkeys(str(field_error["loc"][0]) for field_error in error.errors())
        raise HttpProblem("invalid-request", " ".join(_FIELD_ERRORS[field] for field in fields)) from None
