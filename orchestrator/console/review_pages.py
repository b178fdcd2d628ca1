"""Reviewer's pages: the queue; a proposal with a first opinion on it; then the report and a revised opinion."""

import asyncio
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.reviewing import JudgementBody, Reason
from orchestrator.access.api_keys import Caller
from orchestrator.console.evidence_view import evidence_of
from orchestrator.console.proposal_text import proposal_html
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import JobId
from orchestrator.jobs.report_figures import figures_of
from orchestrator.problems import HttpProblem, not_there
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.services.opinions import judge_point, read_proposal, require_blind_opinion
from orchestrator.services.reports import report_of_reviewer
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import allowed_to

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

Reviewer = Annotated[Caller, Depends(allowed_to("give opinions"))]


class _Refused(NamedTuple):
    """An opinion that was refused: the reason, and the input."""

    why: str
    score: int
    note: str


@router.get("/queue")
async def queue(request: Request, who: Reviewer, services: ServicesDependency) -> Response:
    """Show the reviewer's own assignments, those that await an opinion first."""
    assigned = await services.reviewing.assignments.queue_of_reviewer(who.tenant, who.subject)
    return page_response("queue.html", request, who, assigned=assigned, today=services.clock.now().date())


@router.get("/review/{id}")
async def review(id: PathId, request: Request, who: Reviewer, services: ServicesDependency) -> Response:
    """Show the proposal and the reviewer's opinion on it; the program's report stays hidden until the first opinion
    is stored."""
    return await _review(id, request, who, services)


@router.post("/review/{id}/opinion")
async def give(
    id: PathId,
    request: Request,
    who: Reviewer,
    services: ServicesDependency,
    score: Annotated[int, Form(ge=1, le=5)],
    note: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    """Store the reviewer's opinion: the first submission is kept permanently, later submissions revise it."""
    actor, now = who.actor, services.clock.now()
    standing = await services.reviewing.assignments.standing(who.tenant, JobId(id), who.subject)
    if standing is None:
        raise not_there("evaluation", id, "proposal")
    act = services.reviewing.opinions.revise if standing.blind_given else services.reviewing.opinions.give
    try:
        await act(who.tenant, JobId(id), score, note, actor, now)
    except ReviewRefused as refusal:
        return await _review(id, request, who, services, _Refused(str(refusal), score, note))
    return RedirectResponse(f"/console/review/{id}", 303)


@router.post("/review/{id}/judgement")
async def judge(
    id: PathId,
    who: Reviewer,
    services: ServicesDependency,
    point: Annotated[str, Form(max_length=300)],
    agrees: Annotated[bool, Form()],
    reason: Annotated[Reason, Form()],
    claim: Annotated[int, Form(ge=1, le=10_000)] = 1,
) -> Response:
    """Agree or disagree with one claim of the report; `claim` is its number on the page."""
    await require_blind_opinion(services.reviewing.assignments, who.tenant, id, who.subject)
    body = JudgementBody(point=point, agrees=agrees, reason=reason)
    await judge_point(
        services.reviewing.opinions, services.jobs, who.tenant, JobId(id), body, who.actor, services.clock.now()
    )
    return RedirectResponse(f"/console/review/{id}#claim-{claim}", 303)


@router.post("/review/{id}/conflict")
async def declare(
    id: PathId,
    who: Reviewer,
    services: ServicesDependency,
    reason: Annotated[Reason, Form()],
) -> Response:
    """Declare a conflict of interest: the reviewer must not review the proposal, which is removed from the queue."""
    member = who.subject
    if await services.reviewing.assignments.standing(who.tenant, JobId(id), member) is None:
        raise not_there("evaluation", id, "proposal")
    await services.reviewing.assignments.declare(who.tenant, JobId(id), member, reason, who.actor, services.clock.now())
    return RedirectResponse("/console/queue", 303)


async def _review(
    id: str, request: Request, who: Caller, services: Services, refused: _Refused | None = None
) -> Response:
    member = who.subject
    if await services.reviewing.assignments.standing(who.tenant, JobId(id), member) is None:
        raise not_there("evaluation", id, "proposal")
    try:
        text, missing = await read_proposal(services.jobs, who.tenant, id), ""
    except HttpProblem as problem:
        if problem.status_code != 409:
            raise
        text, missing = None, problem.detail
    own = await services.reviewing.opinions.of(who.tenant, evaluation=JobId(id), member=member)
    # Nothing of the program's is even read before there is an opinion.
    report = await report_of_reviewer(services.jobs, who.tenant, id) if own else None
    judged = await services.reviewing.opinions.judgements(who.tenant, JobId(id), member) if own else []
    return page_response(
        "review.html",
        request,
        who,
        status=409 if refused else 200,
        id=id,
        proposal=text,
        words=await asyncio.to_thread(proposal_html, text.text) if text else None,
        missing=missing,
        opinion=own[0] if own else None,
        report=report,
        figures=None if report is None else figures_of(report),
        evidence=None if report is None else evidence_of(report),
        judgements={item.point: [item] for item in judged},
        refused=refused,
    )
