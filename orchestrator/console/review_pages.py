"""The reviewer's pages: a queue; a proposal, a first opinion on it, then the report and a second thought."""

import asyncio
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.access.roles import MemberId
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.acting import require_blind_opinion
from orchestrator.api.identifiers import PathId
from orchestrator.api.problems import HttpProblem, not_there
from orchestrator.api.routes.evaluations import report_of_reviewer
from orchestrator.api.routes.opinions import JudgementBody, judge_point, read_proposal
from orchestrator.api.routes.panel import Reason
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.evidence_view import evidence_of
from orchestrator.console.proposal_text import proposal_html
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import JobId
from orchestrator.jobs.report_figures import figures_of
from orchestrator.reviewing.models import ReviewRefused

__all__ = ["router"]

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

Reviewer = Annotated[SignedIn, Depends(allowed_to("give opinions"))]


class _Refused(NamedTuple):
    """An opinion that was not taken: why, and what was typed."""

    why: str
    score: int
    note: str


@router.get("/queue")
async def queue(request: Request, who: Reviewer, services: ServicesDependency) -> Response:
    """What is assigned to oneself, first what waits for an opinion."""
    assigned = await services.assignments.queue_of_reviewer(who.tenant, MemberId(who.subject))
    return page_response("queue.html", request, who, assigned=assigned, today=services.clock.now().date())


@router.get("/review/{id}")
async def review(id: PathId, request: Request, who: Reviewer, services: ServicesDependency) -> Response:
    """The proposal and one's opinion on it; nothing of the program's before that is given."""
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
    """The first time it is the opinion that stays; then it is revised."""
    actor, now = who.actor, services.clock.now()
    standing = await services.assignments.standing(who.tenant, JobId(id), MemberId(who.subject))
    if standing is None:
        raise not_there("evaluation", id, "proposal")
    act = services.opinions.revise if standing.blind_given else services.opinions.give
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
    """Agrees or disagrees with one claim of the report; `claim` is its number on the page."""
    await require_blind_opinion(services, who.tenant, id, who.subject)
    body = JudgementBody(point=point, agrees=agrees, reason=reason)
    await judge_point(services, who.tenant, JobId(id), body, who.actor)
    return RedirectResponse(f"/console/review/{id}#claim-{claim}", 303)


@router.post("/review/{id}/conflict")
async def declare(
    id: PathId,
    who: Reviewer,
    services: ServicesDependency,
    reason: Annotated[Reason, Form()],
) -> Response:
    """One must not review it: it leaves the queue."""
    member = MemberId(who.subject)
    if await services.assignments.standing(who.tenant, JobId(id), member) is None:
        raise not_there("evaluation", id, "proposal")
    await services.assignments.declare(who.tenant, JobId(id), member, reason, who.actor, services.clock.now())
    return RedirectResponse("/console/queue", 303)


async def _review(
    id: str, request: Request, who: SignedIn, services: Services, refused: _Refused | None = None
) -> Response:
    member = MemberId(who.subject)
    if await services.assignments.standing(who.tenant, JobId(id), member) is None:
        raise not_there("evaluation", id, "proposal")
    try:
        text, missing = await read_proposal(services, who.tenant, id), ""
    except HttpProblem as problem:
        if problem.status_code != 409:
            raise
        text, missing = None, problem.detail
    own = await services.opinions.of(who.tenant, evaluation=JobId(id), member=member)
    # Nothing of the program's is even read before there is an opinion.
    report = await report_of_reviewer(services, who.tenant, id) if own else None
    judged = await services.opinions.judgements(who.tenant, JobId(id), member) if own else []
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
        judgements={one.point: [one] for one in judged},
        refused=refused,
    )
