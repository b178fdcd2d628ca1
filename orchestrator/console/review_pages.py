"""Pages of a reviewer: the queue, and a proposal on which they give a first opinion, read the report and revise the
opinion."""

import asyncio
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.reviewing import JudgementBody, Reason
from orchestrator.console.evidence_view import evidence_of
from orchestrator.console.page_context import PageContext, Reviewer
from orchestrator.console.proposal_text import proposal_html
from orchestrator.jobs.models import JobId
from orchestrator.jobs.report_figures import figures_of
from orchestrator.problems import HttpProblem, not_there, required
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.services.opinions import judge_point, read_proposal, require_blind_opinion
from orchestrator.services.reports import report_of_reviewer
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)


class _Refused(NamedTuple):
    """Opinion that was refused: the reason, and the values entered."""

    why: str
    score: int
    note: str


@router.get("/queue")
async def queue(context: Reviewer) -> Response:
    """Show the reviewer's own assignments, starting with those that still need an opinion."""
    assigned = await context.reviewing.assignments.queue(context.tenant, member=context.caller.subject, masked=True)
    return context.page("queue.html", assigned=assigned, today=context.now.date())


@router.get("/review/{id}")
async def review(id: PathId, context: Reviewer) -> Response:
    """Show the proposal and the reviewer's opinion on it; the program's report stays hidden until the first opinion
    is stored."""
    return await _review(context, id)


@router.post("/review/{id}/opinion")
async def give(
    id: PathId,
    context: Reviewer,
    score: Annotated[int, Form(ge=1, le=5)],
    note: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    """Store the reviewer's opinion. The first is kept permanently; later ones revise it."""
    opinions = context.reviewing.opinions
    act = opinions.revise if await _blind_given(context, id) else opinions.give
    try:
        await act(context.tenant, JobId(id), score, note, context.by)
    except ReviewRefused as refusal:
        return await _review(context, id, _Refused(str(refusal), score, note))
    return RedirectResponse(f"/console/review/{id}", 303)


@router.post("/review/{id}/judgement")
async def judge(
    id: PathId,
    context: Reviewer,
    point: Annotated[str, Form(max_length=300)],
    agrees: Annotated[bool, Form()],
    reason: Annotated[Reason, Form()],
    claim: Annotated[int, Form(ge=1, le=10_000)] = 1,
) -> Response:
    """Agree or disagree with one claim of the report; `claim` is its number on the page."""
    await require_blind_opinion(context.reviewing.assignments, context.tenant, id, context.caller.subject)
    body = JudgementBody(point=point, agrees=agrees, reason=reason)
    await judge_point(context.reviewing.opinions, context.services.jobs, context.tenant, JobId(id), body, context.by)
    return RedirectResponse(f"/console/review/{id}#claim-{claim}", 303)


@router.post("/review/{id}/conflict")
async def declare(id: PathId, context: Reviewer, reason: Annotated[Reason, Form()]) -> Response:
    """Declare a conflict of interest: the reviewer must not review the proposal, which is removed from the queue."""
    await _blind_given(context, id)
    await context.reviewing.assignments.declare(context.tenant, JobId(id), context.caller.subject, reason, context.by)
    return RedirectResponse("/console/queue", 303)


async def _blind_given(context: PageContext, id: str) -> bool:
    """Return True if the reviewer has given a first opinion on a proposal. Raises HttpProblem (404) if the proposal is
    not assigned to them."""
    blind_given = await context.reviewing.assignments.blind_given(context.tenant, JobId(id), context.caller.subject)
    return required(blind_given, not_there("evaluation", id, "proposal"))


async def _review(context: PageContext, id: str, refused: _Refused | None = None) -> Response:
    member = context.caller.subject
    await _blind_given(context, id)
    try:
        text, missing = await read_proposal(context.services.jobs, context.tenant, id), ""
    except HttpProblem as problem:
        if problem.status_code != 409:
            raise
        text, missing = None, problem.detail
    own = await context.reviewing.opinions.of(context.tenant, evaluation=JobId(id), member=member)
    # The program's report is not even read from the database before there is an opinion.
    report = await report_of_reviewer(context.services.jobs, context.tenant, id) if own else None
    judged = await context.reviewing.opinions.judgements(context.tenant, JobId(id), member) if own else []
    return context.page(
        "review.html",
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
