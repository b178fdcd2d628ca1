"""`/console/proposals`: one proposal beside its report, and two to four of them side by side."""

import asyncio
from collections import defaultdict
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer.models import Report
from assayer.reports.contestation import contestation_of
from assayer.reports.contestation_page import contestation_page
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.problems import not_there
from orchestrator.api.routes.comparisons import comparison_request, evaluated_idea
from orchestrator.api.routes.evaluations import stored_report
from orchestrator.api.routes.remarks import RemarkText
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.evidence_view import evidence_of
from orchestrator.console.pair_view import judged_pairs
from orchestrator.console.proposal_text import proposal_html
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import Job, JobId, TenantId
from orchestrator.jobs.report_figures import ReportFigures, figures_of
from orchestrator.jobs.submissions import NewJob
from orchestrator.reviewing.models import PointJudgement

__all__ = ["router"]

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_LEAST, _MOST = 2, 4
_LETTERS = "ABCD"
"""By which compared proposals, and their sources, are told apart."""


@router.get("/proposals/{id}")
async def proposal(
    id: PathId,
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("see calls"))],
    services: ServicesDependency,
) -> Response:
    job, report = await _found(services, who.tenant, id)
    sees = who.may("see the panel")
    judged = await services.opinions.judgements(who.tenant, job.id) if sees else []
    judgements = defaultdict[str, list[PointJudgement]](list)
    for one in judged:
        judgements[one.point].append(one)
    return page_response(
        "proposal.html",
        request,
        who,
        job=job,
        report=report,
        text=None if report is None else await asyncio.to_thread(proposal_html, report.idea.text),
        figures=None if report is None else figures_of(report),
        evidence=None if report is None else evidence_of(report),
        remarks=await services.remarks.of(who.tenant, job.id) if sees else None,
        opinions=await services.opinions.of(who.tenant, evaluation=job.id) if sees else None,
        judgements=judgements,
        override=await services.decisions.override_of(who.tenant, job.id) if sees else None,
        sign_off=await services.decisions.signed_off(who.tenant, job.batch) if job.batch else None,
        ranks=await services.rankings.of_proposal(who.tenant, job.id),
        waiting=await services.jobs.waiting_reason(who.tenant, job.id),
        again=await services.jobs.retriable(who.tenant, job=job.id),
    )


@router.post("/proposals/{id}/remarks")
async def remark(
    id: PathId,
    who: Annotated[SignedIn, Depends(allowed_to("remark"))],
    services: ServicesDependency,
    text: Annotated[RemarkText, Form()],
) -> Response:
    made = await services.remarks.add(who.tenant, JobId(id), text, who.actor, services.clock.now())
    if made is None:
        raise not_there("evaluation", id)
    return RedirectResponse(f"/console/proposals/{id}#remark-{made.id}", 303)


@router.get("/proposals/{id}/contestation")
async def contestation(
    id: PathId,
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("see calls"))],
    services: ServicesDependency,
) -> Response:
    job = await find_job(services, who.tenant, id, "evaluation")
    what = contestation_page(contestation_of(await stored_report(services, who.tenant, id), job.id))
    return page_response("contestation.html", request, who, job=job, what=what)


@router.get("/compare")
async def compare(
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("see calls"))],
    services: ServicesDependency,
    id: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006 - FastAPI copies it
    asked: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Chosen in a table."""
    chosen = list(dict.fromkeys(id))
    if not _LEAST <= len(chosen) <= _MOST:
        return page_response("choose.html", request, who, chosen=len(chosen), status=422)
    found = [await _found(services, who.tenant, one) for one in chosen]
    columns = [(job, report, None if report is None else figures_of(report)) for job, report in found]
    evidences = [None if report is None else evidence_of(report) for _, report in found]
    titles = {part.name: part.title for _, _, figures in columns if figures for part in figures.parts}
    shares = {name: [_share(figures, name) for _, _, figures in columns] for name in titles}
    ideas = {report.idea.id: job.subject or job.id for job, report in found if report is not None}
    judged = await services.pair_verdicts.between(who.tenant, list(ideas)) if len(ideas) > 1 else []
    return page_response(
        "compare.html",
        request,
        who,
        columns=columns,
        letters=_LETTERS,
        claims=[{group.title: group.claims for group in one.summary} if one else {} for one in evidences],
        papers=[
            {each.reference.label: each.reference.title for each in one.sources} if one else {} for one in evidences
        ],
        titles=titles,
        certain=any(figures.certainty for _, _, figures in columns if figures),
        spread={n: _spread(v) for n, v in shares.items()},
        judged=judged_pairs(judged, ideas),
        askable=len(ideas) == len(chosen) == _LEAST and who.may("run calls"),
        under_way=await _under_way(services, who.tenant, asked) if asked else None,
    )


@router.post("/compare")
async def ask(
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("run calls"))],
    services: ServicesDependency,
    first: Annotated[str, Form(max_length=64)],
    second: Annotated[str, Form(max_length=64)],
) -> Response:
    """Has a judge say which of two evaluated proposals is better, in both orders."""
    job = JobId(services.new_id("cp"))
    ideas = [await evaluated_idea(services, who.tenant, one, "") for one in (first, second)]
    work = comparison_request(ideas[0], ideas[1], services)
    subject = f"{ideas[0].title} / {ideas[1].title}"
    made_of = (JobId(first), JobId(second))
    new = NewJob(id=job, request=work, subject=subject, priority="interactive", made_of=made_of)
    await services.jobs.add(who.tenant, [new])
    return RedirectResponse(f"/console/compare?id={first}&id={second}&asked={job}#judged", 303)


async def _under_way(services: Services, tenant: TenantId, id: str) -> Job | None:
    """A comparison that was asked for, until it is done."""
    job = await services.jobs.get(tenant, JobId(id))
    return job if job is not None and job.kind == "comparison" and job.state != "done" else None


def _share(figures: ReportFigures | None, part: str) -> float | None:
    return next((one.share for one in figures.parts if one.name == part), None) if figures else None


def _spread(shares: list[float | None]) -> float | None:
    """Between the highest and the lowest; None where fewer than two have a score."""
    known = [one for one in shares if one is not None]
    return max(known) - min(known) if len(known) > 1 else None


async def _found(services: Services, tenant: TenantId, id: str) -> tuple[Job, Report | None]:
    """Raises HttpProblem (404)."""
    job = await find_job(services, tenant, id, "evaluation")
    return job, await services.jobs.report(tenant, job.id) if job.state == "done" else None
