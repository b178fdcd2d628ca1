"""Pages `/console/calls/{id}/assignments/…`: reviewers chosen for a call or invited to it."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.reviewing import CallInvitationBody, CallReviewersBody, ChosenOutcome
from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import MemberId
from orchestrator.console.assignment_pages import shown_assignments
from orchestrator.console.member_pages import GivenMember, checked_form
from orchestrator.console.reviewer_choice import EndedByChoice, wanted_reviewers
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import NewMember, ReviewRefused
from orchestrator.services import call_reviewers
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import allowed_to

router = APIRouter(prefix="/console/calls/{id}/assignments", tags=["pages"], include_in_schema=False)

Assigner = Annotated[Caller, Depends(allowed_to("assign reviewers"))]
Inviter = Annotated[Caller, Depends(allowed_to("invite people"))]
_Members = Annotated[list[str], Form(default_factory=list, max_length=5_000)]


@router.post("/reviewers")
async def choose(
    id: PathId,
    request: Request,
    who: Assigner,
    services: ServicesDependency,
    reviewer: _Members,
    listed: _Members,
    everybody: Annotated[str, Form(max_length=8)] = "",
    ends: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """Choose the ticked reviewers among those listed. If this ends assignments, they are shown first, and the
    change is made only if they are still the same."""
    call = await services.find_batch(who.tenant, id)
    try:
        wanted = None if everybody else await _wanted(services, who, call, listed, reviewer)
        outcome = await _chosen(services, who, call, wanted, dry_run=True)
        ended = EndedByChoice(outcome.withdrawn, tuple(reviewer), tuple(listed))
        if ended.withdrawn and ended.digest != ends:
            return await shown_assignments(request, who, services, call, ended=ended)
        await _chosen(services, who, call, wanted, dry_run=False)
    except HttpProblem as problem:
        return await shown_assignments(request, who, services, call, fault=problem.detail, status=problem.status_code)
    except ReviewRefused as refusal:
        return await shown_assignments(request, who, services, call, fault=str(refusal))
    return _back(call)


@router.post("/invite")
async def invite(
    id: PathId, request: Request, who: Inviter, services: ServicesDependency, form: GivenMember
) -> Response:
    call = await services.find_batch(who.tenant, id)
    try:
        body = checked_form(CallInvitationBody, form.model_dump(exclude={"role"}))
        member = MemberId(services.new_id("mb"))
        new = NewMember(**body.model_dump(), role="reviewer")
        await services.reviewing.call_reviewers.invite(
            who.tenant, call.id, member, new, who.actor, services.clock.now()
        )
    except HttpProblem as problem:
        fault, status = problem.detail, problem.status_code
        return await shown_assignments(request, who, services, call, fault=fault, status=status, form=form)
    except ReviewRefused as refusal:
        return await shown_assignments(request, who, services, call, fault=str(refusal), form=form)
    return _back(call)


async def _wanted(
    services: Services, who: Caller, call: BatchStatus, listed: Sequence[str], ticked: Sequence[str]
) -> tuple[str, ...]:
    """Raises HttpProblem."""
    chosen = await services.reviewing.call_reviewers.chosen(who.tenant, call.id)
    members = await services.members.list(who.tenant)
    reviewing = {str(member.id) for member in members if member.role == "reviewer" and member.removed_at is None}
    wanted = wanted_reviewers(chosen, reviewing, listed, ticked)
    if not wanted:
        raise HttpProblem("conflict", "Tick at least one, or ask all reviewers. Nothing was changed.")
    return wanted


async def _chosen(
    services: Services, who: Caller, call: BatchStatus, wanted: tuple[str, ...] | None, *, dry_run: bool
) -> ChosenOutcome:
    """Choose the reviewers of a call. Raises HttpProblem and ReviewRefused."""
    body = CallReviewersBody.model_construct(reviewers=wanted, dry_run=dry_run)
    return await call_reviewers.choose_reviewers(
        services.members,
        services.reviewing,
        who.tenant,
        call.id,
        body,
        who.actor,
        services.clock.now(),
    )


def _back(call: BatchStatus) -> Response:
    return RedirectResponse(f"/console/calls/{call.id}/assignments#loads", 303)
