"""`/console/calls/{id}/assignments`: who reviews what of a call, who must not, and what an assignment would be."""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.responses import Response

from orchestrator.access.roles import MemberId
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.problems import HttpProblem, not_found, not_there
from orchestrator.api.routes.assignments import AssignBody, DraftOfAssignments, draft_assignments, keep_draft
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.member_pages import MemberForm
from orchestrator.console.reviewer_choice import EndedByChoice, reviewer_choice
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import JobId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.assigned_tables import ASSIGNED_PAGE, AssignedView, ReviewerLoad

__all__ = ["router", "shown_assignments"]

router = APIRouter(prefix="/console/calls/{id}/assignments", tags=["pages"], include_in_schema=False)

PeopleReader = Annotated[SignedIn, Depends(allowed_to("see people"))]
Assigner = Annotated[SignedIn, Depends(allowed_to("assign reviewers"))]
PerProposal = Annotated[int, Field(ge=1, le=10)]
Evaluation = Annotated[str, Form(max_length=64)]
Reviewer = Annotated[str, Form(max_length=64)]
Reason = Annotated[str, Form(max_length=2_000)]
_CONFLICTS = 200


class AssignedQuery(AssignedView):
    per_proposal: PerProposal | None = None
    find: str = Field(default="", max_length=200)
    """Words of a reviewer's name, address or institutions: who can be chosen is listed by them."""


class PlanAsShown(NamedTuple):
    """What would be assigned, by proposal."""

    planned: Mapping[str, list[str]]
    """Who would get it."""
    short: Mapping[str, int]
    """How many reviewers it would lack, where it would."""
    titles: Mapping[str, str]
    barred: Mapping[str, int]
    """How many of the reviewers a conflict keeps from it."""
    only_conflicts_end: bool
    """Of assignments that would end: for conflicts of interest alone."""


@router.get("")
async def assignments(
    id: PathId,
    request: Request,
    who: PeopleReader,
    services: ServicesDependency,
    query: Annotated[AssignedQuery, Query()],
) -> Response:
    """As it is; with a number of reviewers also as it would be."""
    call = await services.find_batch(who.tenant, id)
    return await shown_assignments(
        request, who, services, call, per_proposal=query.per_proposal, view=query, find=query.find
    )


@router.post("")
async def assign(
    id: PathId,
    request: Request,
    who: Assigner,
    services: ServicesDependency,
    per_proposal: Annotated[PerProposal, Form()],
    shown: Annotated[str, Form(max_length=64)],
) -> Response:
    """Only what was shown: if it has become another plan, that is shown first."""
    call = await services.find_batch(who.tenant, id)
    body = AssignBody(per_proposal=per_proposal)
    draft = await draft_assignments(services, who.tenant, call.id, body, search=False)
    if _digest(draft) != shown:
        changed = "Who would get what has changed since it was shown. Nobody was assigned: look at it again."
        return await shown_assignments(request, who, services, call, per_proposal=per_proposal, fault=changed)
    await keep_draft(services, who.tenant, call.id, draft, who.actor)
    return _back(call)


@router.post("/withdraw")
async def withdraw(
    id: PathId,
    request: Request,
    who: Assigner,
    services: ServicesDependency,
    evaluation: Evaluation,
    reviewer: Reviewer,
) -> Response:
    """Takes a proposal from somebody who has not given an opinion on it."""
    call = await services.find_batch(who.tenant, id)
    job = await _proposal(services, who, call, evaluation)
    try:
        gone = await services.assignments.withdraw(who.tenant, job, MemberId(reviewer), who.actor, services.clock.now())
    except ReviewRefused as refusal:
        return await shown_assignments(request, who, services, call, fault=str(refusal))
    if not gone:
        fault = "They have given their opinion on it, or it is not assigned to them any more. Nothing was withdrawn."
        return await shown_assignments(request, who, services, call, fault=fault)
    return _back(call)


@router.post("/conflicts")
async def declare(
    id: PathId,
    request: Request,
    who: Assigner,
    services: ServicesDependency,
    evaluation: Evaluation,
    reviewer: Reviewer,
    reason: Reason,
) -> Response:
    """Somebody must not review a proposal. An assignment without an opinion ends thereby."""
    return await _conflict(request, who, services, id, evaluation, reviewer, reason, clears=False)


@router.post("/conflicts/clear")
async def clear(
    id: PathId,
    request: Request,
    who: Assigner,
    services: ServicesDependency,
    evaluation: Evaluation,
    reviewer: Reviewer,
    reason: Reason,
) -> Response:
    """It is no conflict after all. It stays on record."""
    return await _conflict(request, who, services, id, evaluation, reviewer, reason, clears=True)


async def _conflict(
    request: Request,
    who: SignedIn,
    services: Services,
    id: str,
    evaluation: str,
    reviewer: str,
    reason: str,
    *,
    clears: bool,
) -> Response:
    call = await services.find_batch(who.tenant, id)
    job = await _proposal(services, who, call, evaluation)
    if len(reason.strip()) < 3:
        return await shown_assignments(request, who, services, call, fault="Say why, in three letters or more.")
    act = services.assignments.clear if clears else services.assignments.declare
    try:
        done = await act(who.tenant, job, MemberId(reviewer), reason.strip(), who.actor, services.clock.now())
    except ReviewRefused as refusal:
        return await shown_assignments(request, who, services, call, fault=str(refusal))
    if done is None:
        await _proposal(services, who, call, evaluation)
        raise not_found("conflict of interest" if clears else "reviewer", reviewer)
    return _back(call)


async def shown_assignments(
    request: Request,
    who: SignedIn,
    services: Services,
    call: BatchStatus,
    *,
    per_proposal: int | None = None,
    view: AssignedView | None = None,
    find: str = "",
    ended: EndedByChoice | None = None,
    given: MemberForm | None = None,
    fault: str = "",
    status: int | None = None,
) -> Response:
    """`ended`: assignments that a choice of reviewers would end. `given`: what was typed about somebody to be invited.
    `status`: 200, or 409 with a fault, unless it is given."""
    draft, status = None, status or (409 if fault else 200)
    view = view or AssignedView()
    if per_proposal is not None and who.may("assign reviewers"):
        try:
            draft = await draft_assignments(services, who.tenant, call.id, AssignBody(per_proposal=per_proposal))
        except HttpProblem as problem:
            fault, status = problem.detail, problem.status_code
    page, loads, conflicts, members, chosen, sign_off = await asyncio.gather(
        services.assigned_tables.page(who.tenant, call.id, view),
        services.assigned_tables.loads(who.tenant, call.id),
        services.assigned_tables.conflicts(who.tenant, call.id, _CONFLICTS),
        services.members.list(who.tenant),
        services.call_reviewers.chosen(who.tenant, call.id),
        services.decisions.signed_off(who.tenant, call.id),
    )
    signed, not_blind = await asyncio.gather(
        services.decisions.signed_names(who.tenant, call.id),
        services.assignments.not_blind(who.tenant, call.id),
    )
    choice = reviewer_choice(members, chosen, find, not_blind)
    asked = {one.id for one in choice.asked}
    with_proposals = [one for one in members if one.id in loads]
    if sign_off is not None:
        people = with_proposals
    else:
        people = [*choice.asked, *(one for one in with_proposals if one.id not in asked)]
    return page_response(
        "assignments.html",
        request,
        who,
        status=status,
        call=call,
        fault=fault,
        draft=draft,
        plan=_plan_as_shown(draft) if draft else None,
        not_blind=not_blind,
        digest=_digest(draft) if draft else "",
        per_proposal=per_proposal,
        view=view,
        parameters=view.model_dump(include={"sort", "only"}, exclude_defaults=True) | {"per_proposal": per_proposal},
        page=page,
        pages=max(1, -(-page.matching // ASSIGNED_PAGE)),
        names={str(one.id): one.name for one in members} | signed,
        choice=choice,
        ended=ended,
        given=given,
        mailed=services.mails.enabled,
        asked=asked,
        people=people,
        loads={one.id: loads.get(one.id, ReviewerLoad(0, 0)) for one in people},
        conflicts=conflicts,
        sign_off=sign_off,
    )


def _plan_as_shown(draft: DraftOfAssignments) -> PlanAsShown:
    planned = defaultdict[str, list[str]](list)
    for evaluation, member in draft.plan.pairs:
        planned[evaluation].append(member)
    people = {one.id for one in draft.people}
    conflicted = {(one.evaluation, one.member) for one in draft.conflicts}
    return PlanAsShown(
        planned,
        draft.plan.short,
        {str(one.id): one.title for one in draft.proposals},
        Counter(str(one.evaluation) for one in draft.conflicts if one.member in people),
        all((one.evaluation, one.member) in conflicted for one in draft.ending),
    )


def _digest(draft: DraftOfAssignments) -> str:
    """Of the plan, and of all that conflicts were looked for by and in: where it is the same, so are they."""
    parts = [
        *(f"{one} {member}" for one, member in draft.plan.pairs),
        *(f"{one.id} {one.name} {one.affiliation}" for one in draft.people),
        *(f"{one.id} {one.text is None}" for one in draft.proposals),
        *(f"{one.evaluation} {one.member} ends" for one in draft.ending),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _back(call: BatchStatus) -> Response:
    return RedirectResponse(f"/console/calls/{call.id}/assignments", 303)


async def _proposal(services: Services, who: SignedIn, call: BatchStatus, id: str) -> JobId:
    """One of this call. Raises HttpProblem (404)."""
    job = await services.jobs.get(who.tenant, JobId(id))
    if job is None or job.batch != call.id:
        raise not_there("evaluation", id, "proposal in this call")
    return job.id
