"""`/console/calls/{id}/assignments/…`: reviewers chosen for a call, and invited for it."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.problems import HttpProblem
from orchestrator.api.routes import call_reviewers
from orchestrator.api.routes.call_reviewers import CallInvitationBody, CallReviewersBody, ChosenOutcome
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.assignment_pages import shown_assignments
from orchestrator.console.member_pages import GivenMember, caller_of, checked_form
from orchestrator.console.reviewer_choice import EndedByChoice, wanted_reviewers
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.reviewing.models import ReviewRefused

__all__ = ["router"]

router = APIRouter(prefix="/console/calls/{id}/assignments", tags=["pages"], include_in_schema=False)

Assigner = Annotated[SignedIn, Depends(allowed_to("assign reviewers"))]
Inviter = Annotated[SignedIn, Depends(allowed_to("invite people"))]
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
    """Those who are ticked, of those who were listed. Where assignments end by it, that is shown first, and done only
    if it is still so."""
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
    id: PathId, request: Request, who: Inviter, services: ServicesDependency, given: GivenMember
) -> Response:
    call = await services.find_batch(who.tenant, id)
    try:
        body = checked_form(CallInvitationBody, given.model_dump(exclude={"role"}))
        await call_reviewers.invite_reviewer(call.id, body, caller_of(who), services)
    except HttpProblem as problem:
        fault, status = problem.detail, problem.status_code
        return await shown_assignments(request, who, services, call, fault=fault, status=status, given=given)
    except ReviewRefused as refusal:
        return await shown_assignments(request, who, services, call, fault=str(refusal), given=given)
    return _back(call)


async def _wanted(
    services: Services, who: SignedIn, call: BatchStatus, listed: Sequence[str], ticked: Sequence[str]
) -> tuple[str, ...]:
    """Raises HttpProblem."""
    chosen = await services.call_reviewers.chosen(who.tenant, call.id)
    members = await services.members.list(who.tenant)
    reviewing = {str(one.id) for one in members if one.role == "reviewer" and one.removed_at is None}
    wanted = wanted_reviewers(chosen, reviewing, listed, ticked)
    if not wanted:
        raise HttpProblem("conflict", "Tick at least one, or ask all reviewers. Nothing was changed.")
    return wanted


async def _chosen(
    services: Services, who: SignedIn, call: BatchStatus, wanted: tuple[str, ...] | None, *, dry_run: bool
) -> ChosenOutcome:
    """Raises HttpProblem, ReviewRefused."""
    body = CallReviewersBody.model_construct(reviewers=wanted, dry_run=dry_run)
    return await call_reviewers.choose_reviewers(call.id, body, caller_of(who), services)


def _back(call: BatchStatus) -> Response:
    return RedirectResponse(f"/console/calls/{call.id}/assignments#loads", 303)
