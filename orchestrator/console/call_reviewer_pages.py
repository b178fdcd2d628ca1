"""Forms on `/console/calls/{id}/assignments` that choose a call's reviewers or invite new ones."""

import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.reviewing import CallInvitationBody, CallReviewersBody, ChosenOutcome
from orchestrator.access.roles import MemberId
from orchestrator.console.assignment_pages import RefusedInvitations, render_assignments
from orchestrator.console.member_pages import SubmittedMember, validate_form
from orchestrator.console.page_context import Assigner, Inviter, PageContext
from orchestrator.console.reviewer_choice import EndedAssignments, merge_ticked_reviewers
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import NewMember, ReviewRefused
from orchestrator.services import call_reviewers
from orchestrator.web.path_parameters import CallInPath

router = APIRouter(prefix="/console/calls/{id}/assignments", tags=["pages"], include_in_schema=False)

_MemberIds = Annotated[list[str], Form(default_factory=list, max_length=5_000)]


@router.post("/reviewers")
async def choose_reviewers(
    context: Assigner,
    call: CallInPath,
    reviewer: _MemberIds,
    listed: _MemberIds,
    everybody: Annotated[str, Form(max_length=8)] = "",
    ended_digest: Annotated[str, Form(alias="ends", max_length=64)] = "",
) -> Response:
    """Choose the ticked reviewers. If this would end assignments, show those for confirmation first; the confirmed
    choice is saved only if they have not changed since."""
    try:
        chosen_ids = None if everybody else await _select_reviewers(context, call, listed, reviewer)
        outcome = await _apply_choice(context, call, chosen_ids, dry_run=True)
        ended_assignments = EndedAssignments(outcome.withdrawn, tuple(reviewer), tuple(listed))
        if ended_assignments.withdrawn and ended_assignments.digest != ended_digest:
            return await render_assignments(context, call, ended_assignments=ended_assignments)
        await _apply_choice(context, call, chosen_ids, dry_run=False)
    except (HttpProblem, ReviewRefused) as refusal:
        return await render_assignments(context, call, refusal=refusal)
    return _redirect_to_assignments(call)


@router.post("/invite")
async def invite_reviewer(context: Inviter, call: CallInPath, form: SubmittedMember) -> Response:
    try:
        await _invite_reviewer(context, call, validate_form(CallInvitationBody, form.model_dump(exclude={"role"})))
    except (HttpProblem, ReviewRefused) as refusal:
        return await render_assignments(context, call, refusal=refusal, form=form)
    return _redirect_to_assignments(
        call, "name"
    )  # the URL's fragment makes browsers unfold the form for the next invitation


@router.post("/invitations")
async def invite_reviewers(
    context: Inviter, call: CallInPath, people: Annotated[str, Form(max_length=50_000)] = ""
) -> Response:
    """Invite one reviewer per line. If lines are unusable, list them and keep the text. The text can be submitted
    again, because inviting the same person twice changes nothing."""
    invited, faults = 0, list[str]()
    for number, line in enumerate(people.splitlines(), 1):
        if not line.strip():
            continue
        try:
            await _invite_reviewer(context, call, validate_form(CallInvitationBody, _parse_person(line)))
            invited += 1
        except (HttpProblem, ReviewRefused) as refusal:
            faults.append(f"Line {number}: {refusal}")
    if faults:
        return await render_assignments(context, call, invitations=RefusedInvitations(people, invited, faults))
    return _redirect_to_assignments(call)


async def _invite_reviewer(context: PageContext, call: BatchStatus, body: CallInvitationBody) -> None:
    """Invite a reviewer to the call. Raises ReviewRefused if the person cannot review it."""
    new_member = NewMember(**body.model_dump(), role="reviewer")
    member_id = MemberId(context.services.new_id("mb"))
    await context.reviewing.call_reviewers.invite(context.tenant, call.id, member_id, new_member, context.by)


def _parse_person(line: str) -> dict[str, str]:
    """Parse a line such as `Grace Hopper, grace@example.org, Yale University`. Raises HttpProblem if it has no name
    followed by an email address."""
    parts = [part.strip() for part in re.split("[,;\t]", line)]
    email_position = next((email_position for email_position, part in enumerate(parts) if "@" in part), 0)
    if not email_position:
        raise HttpProblem("invalid-request", "Write it as: Name, name@example.org, Institution.")
    affiliation = line.partition(parts[email_position])[2].strip(" \t,;")
    return {"name": ", ".join(parts[:email_position]), "email": parts[email_position], "affiliation": affiliation}


async def _select_reviewers(
    context: PageContext, call: BatchStatus, listed: Sequence[str], ticked: Sequence[str]
) -> tuple[str, ...]:
    """Return the reviewers to choose. Raises HttpProblem if there would be none."""
    chosen = await context.reviewing.call_reviewers.get_chosen(context.tenant, call.id)
    reviewer_ids = {str(member.id) for member in await context.services.members.list_reviewers(context.tenant)}
    selected_reviewers = merge_ticked_reviewers(chosen, reviewer_ids, listed, ticked)
    if not selected_reviewers:
        raise HttpProblem("conflict", "Select at least one reviewer, or ask all reviewers. Nothing was changed.")
    return selected_reviewers


async def _apply_choice(
    context: PageContext, call: BatchStatus, chosen_ids: tuple[str, ...] | None, *, dry_run: bool
) -> ChosenOutcome:
    """Choose a call's reviewers. Raises HttpProblem or ReviewRefused if the choice is not possible."""
    body = CallReviewersBody.model_construct(reviewers=chosen_ids, dry_run=dry_run)
    return await call_reviewers.choose_reviewers(
        context.services.members, context.reviewing, context.tenant, call.id, body, context.by
    )


def _redirect_to_assignments(call: BatchStatus, fragment: str = "loads") -> Response:
    return RedirectResponse(f"/console/calls/{call.id}/assignments#{fragment}", 303)
