"""Pages `/console/proposals/{id}`, with a proposal and its report, and `/console/compare`, with two to four proposals
side by side."""

import asyncio
from collections import defaultdict
from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer.ideas.own_columns import amount_in
from assayer.models import Report
from assayer.reports.contestation import build_contestation
from assayer.reports.contestation_page import build_contestation_page
from assayer_client.decisions import ApplicantBody
from assayer_client.reviewing import RemarkText
from orchestrator.console.evidence_view import evidence_of
from orchestrator.console.page_context import CallReader, CallRunner, Commenter, PageContext
from orchestrator.console.pair_view import judged_pairs
from orchestrator.console.proposal_text import proposal_html
from orchestrator.jobs.models import Job, JobId
from orchestrator.jobs.report_figures import ReportFigures, figures_of
from orchestrator.jobs.submissions import NewJob
from orchestrator.problems import HttpProblem, missing_or_deleted, required
from orchestrator.reviewing.models import PointJudgement
from orchestrator.services.comparisons import comparison_request
from orchestrator.services.reports import stored_report
from orchestrator.services.submitted_ideas import evaluated_idea
from orchestrator.store.panels import PanelView
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_LEAST, _MOST = 2, 4
_LETTERS = "ABCD"
"""Letters that label compared proposals and their sources."""


class PanelPosition(PanelView):
    panel: bool = False
    """True to show links to the previous and next proposals in the panel's table."""


@router.get("/proposals/{id}")
async def proposal(id: PathId, context: CallReader, view: Annotated[PanelPosition, Query()]) -> Response:
    job, report = await _find_with_report(context, id)
    services, tenant = context.services, context.tenant
    sees = context.caller.may("see the panel")
    judged = await services.reviewing.opinions.judgements(tenant, job.id) if sees else []
    judgements = defaultdict[str, list[PointJudgement]](list)
    for item in judged:
        judgements[item.point].append(item)
    return context.page(
        "proposal.html",
        job=job,
        view=view,
        beside=await services.reviewing.panels.beside(tenant, job.batch, view, job.id)
        if view.panel and sees and job.batch
        else None,
        report=report,
        text=None if report is None else await asyncio.to_thread(proposal_html, report.idea.whole_text),
        figures=None if report is None else figures_of(report),
        evidence=None if report is None else evidence_of(report),
        remarks=await services.reviewing.remarks.of(tenant, job.id) if sees else None,
        opinions=await services.reviewing.opinions.of(tenant, evaluation=job.id) if sees else None,
        judgements=judgements,
        override=await services.reviewing.decisions.override_of(tenant, job.id) if sees else None,
        sign_off=await services.reviewing.decisions.signed_off(tenant, job.batch) if job.batch else None,
        ranks=await services.rankings.of_proposal(tenant, job.id),
        waiting=await services.jobs.waiting_reason(tenant, job.id),
        original=await services.jobs.original(tenant, job.id),
        again=await services.jobs.retriable(tenant, job=job.id),
        applicant=await services.applicants.of(tenant, job.id),
        decision=await services.reviewing.proposal_decisions.of(tenant, job.id) if sees else None,
    )


@router.post("/proposals/{id}/applicant")
async def change_applicant(
    id: PathId,
    context: CallRunner,
    name: Annotated[str, Form(max_length=1_000)] = "",
    institution: Annotated[str, Form(max_length=1_000)] = "",
    amount: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    requested_amount = amount_in(amount.strip())
    if amount.strip() and requested_amount is None:
        raise HttpProblem("conflict", "The amount must be a number, such as 75,000.")
    body = ApplicantBody(name=name, institution=institution, amount=requested_amount)
    if not await context.services.applicants.change(context.tenant, JobId(id), body, context.by):
        raise missing_or_deleted("evaluation", id)
    return RedirectResponse(f"/console/proposals/{id}#applicant", 303)


@router.post("/proposals/{id}/remarks")
async def remark(id: PathId, context: Commenter, text: Annotated[RemarkText, Form()]) -> Response:
    new_remark = await context.reviewing.remarks.add(context.tenant, JobId(id), text, context.by)
    remark = required(new_remark, missing_or_deleted("evaluation", id))
    return RedirectResponse(f"/console/proposals/{id}#remark-{remark.id}", 303)


@router.get("/proposals/{id}/contestation")
async def contestation(id: PathId, context: CallReader) -> Response:
    job = await context.find_evaluation(id)
    page = build_contestation_page(
        build_contestation(await stored_report(context.services.jobs, context.tenant, id), job.id)
    )
    return context.page("contestation.html", job=job, what=page)


@router.get("/compare")
async def compare(
    context: CallReader,
    id: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006 - FastAPI copies it
    asked: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show the proposals ticked in a call's table side by side."""
    evaluation_ids = list(dict.fromkeys(id))
    if not _LEAST <= len(evaluation_ids) <= _MOST:
        return context.page("choose.html", chosen=len(evaluation_ids), status=422)
    reports = [await _find_with_report(context, item) for item in evaluation_ids]
    columns = [(job, report, None if report is None else figures_of(report)) for job, report in reports]
    evidences = [None if report is None else evidence_of(report) for _, report in reports]
    titles = {part.name: part.title for _, _, figures in columns if figures for part in figures.parts}
    shares = {name: [_share(figures, name) for _, _, figures in columns] for name in titles}
    ideas = {report.idea.id: job.subject or job.id for job, report in reports if report is not None}
    verdicts = await context.services.pair_verdicts.between(context.tenant, list(ideas)) if len(ideas) > 1 else []
    return context.page(
        "compare.html",
        columns=columns,
        letters=_LETTERS,
        claims=[
            {group.title: group.claims for group in evidence.summary} if evidence else {} for evidence in evidences
        ],
        papers=[
            {source.reference.label: source.reference.title for source in evidence.sources} if evidence else {}
            for evidence in evidences
        ],
        titles=titles,
        certain=any(figures.certainty for _, _, figures in columns if figures),
        spread={name: _spread(values) for name, values in shares.items()},
        judged=judged_pairs(verdicts, ideas),
        askable=len(ideas) == len(evaluation_ids) == _LEAST and context.caller.may("manage calls"),
        under_way=await _under_way(context, asked) if asked else None,
    )


@router.post("/compare")
async def ask(
    context: CallRunner, first: Annotated[str, Form(max_length=64)], second: Annotated[str, Form(max_length=64)]
) -> Response:
    """Queue a comparison: a judge decides which of two evaluated proposals is better, and is asked in both orders."""
    job = JobId(context.services.new_id("cp"))
    ideas = [await evaluated_idea(context.services.jobs, context.tenant, item, "") for item in (first, second)]
    work = comparison_request(ideas[0], ideas[1], blind=context.services.options.judged_blind(None, several=True))
    subject = f"{ideas[0].title} / {ideas[1].title}"
    job_ids = (JobId(first), JobId(second))
    new = NewJob(id=job, request=work, subject=subject, priority="interactive", made_of=job_ids)
    await context.services.jobs.add(context.tenant, [new])
    return RedirectResponse(f"/console/compare?id={first}&id={second}&asked={job}#judged", 303)


async def _under_way(context: PageContext, id: str) -> Job | None:
    """Return the requested comparison if it exists and has not succeeded yet, otherwise None."""
    job = await context.services.jobs.get(context.tenant, JobId(id))
    return job if job is not None and job.kind == "comparison" and job.state != "succeeded" else None


def _share(figures: ReportFigures | None, part: str) -> float | None:
    return next((item.share for item in figures.parts if item.name == part), None) if figures else None


def _spread(shares: list[float | None]) -> float | None:
    """Return the difference between the highest and lowest scores; None if fewer than two proposals have a score."""
    known_shares = [share for share in shares if share is not None]
    return max(known_shares) - min(known_shares) if len(known_shares) > 1 else None


async def _find_with_report(context: PageContext, id: str) -> tuple[Job, Report | None]:
    """Return an evaluation and, if it has succeeded, its report. Raises HttpProblem if the evaluation does not
    exist."""
    job = await context.find_evaluation(id)
    return job, await context.services.jobs.report(context.tenant, job.id) if job.state == "succeeded" else None
