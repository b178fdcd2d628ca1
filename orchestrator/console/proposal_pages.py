"""Pages `/console/proposals/{id}`, with a proposal and its report, and `/console/compare`, with two to four proposals
side by side."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer.ideas.own_columns import amount_in
from assayer.models import IdeaId, Report
from assayer.reports.contestation import build_contestation
from assayer.reports.contestation_page import build_contestation_page
from assayer_client.comparisons import Comparison
from assayer_client.decisions import ApplicantBody
from assayer_client.reviewing import RemarkText
from orchestrator.console.evidence_view import build_evidence_view
from orchestrator.console.page_context import CallManager, CallReader, Commenter, PageContext
from orchestrator.console.proposal_text import render_proposal
from orchestrator.jobs.models import Job, JobId
from orchestrator.jobs.report_figures import ReportFigures, compute_figures
from orchestrator.jobs.results import compute_outcomes
from orchestrator.jobs.submissions import NewJob
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.reviewing.models import PointJudgement
from orchestrator.services.comparisons import build_comparison_request
from orchestrator.services.job_lookup import find_report
from orchestrator.services.submitted_ideas import get_evaluated_idea
from orchestrator.store.pair_verdicts import SourcedComparison
from orchestrator.store.panels import PanelView
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_MIN_COMPARED, _MAX_COMPARED = 2, 4
_LETTERS = "ABCD"
"""Letters that label compared proposals and their sources."""


class PanelPosition(PanelView):
    panel: bool = False
    """True to show links to the previous and next proposals in the panel's table."""


@router.get("/proposals/{id}")
async def show_proposal(id: PathId, context: CallReader, view: Annotated[PanelPosition, Query()]) -> Response:
    job, report = await _find_evaluation_with_report(context, id)
    services, tenant = context.services, context.tenant
    sees_panel = context.caller.may("see the panel")
    stored_judgements = await services.reviewing.opinions.list_judgements(tenant, job.id) if sees_panel else []
    judgements_by_point = defaultdict[str, list[PointJudgement]](list)
    for judgement in stored_judgements:
        judgements_by_point[judgement.point].append(judgement)
    return context.render_page(
        "proposal.html",
        job=job,
        view=view,
        neighbours=await services.reviewing.panels.get_adjacent(tenant, job.batch, view, job.id)
        if view.panel and sees_panel and job.batch
        else None,
        report=report,
        text=None if report is None else await asyncio.to_thread(render_proposal, report.idea.whole_text),
        figures=None if report is None else compute_figures(report),
        evidence=None if report is None else build_evidence_view(report),
        remarks=await services.reviewing.remarks.list_remarks(tenant, job.id) if sees_panel else None,
        opinions=await services.reviewing.opinions.list_opinions(tenant, evaluation=job.id) if sees_panel else None,
        judgements=judgements_by_point,
        override=await services.reviewing.decisions.get_override(tenant, job.id) if sees_panel else None,
        sign_off=await services.reviewing.decisions.get_sign_off(tenant, job.batch) if job.batch else None,
        ranks=await services.rankings.list_proposal_ranks(tenant, job.id),
        waiting=await services.jobs.explain_waiting(tenant, job.id),
        original=await services.jobs.get_original(tenant, job.id),
        retriable=await services.jobs.preview_retry(tenant, job=job.id),
        applicant=await services.applicants.get(tenant, job.id),
        decision=await services.reviewing.proposal_decisions.get(tenant, job.id) if sees_panel else None,
    )


@router.post("/proposals/{id}/applicant")
async def change_applicant(
    id: PathId,
    context: CallManager,
    name: Annotated[str, Form(max_length=1_000)] = "",
    institution: Annotated[str, Form(max_length=1_000)] = "",
    amount: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    requested_amount = amount_in(amount.strip())
    if amount.strip() and requested_amount is None:
        raise HttpProblem("conflict", "The amount must be a number, such as 75,000.")
    body = ApplicantBody(name=name, institution=institution, amount=requested_amount)
    if not await context.services.applicants.change(context.tenant, JobId(id), body, context.by):
        raise build_missing_problem("evaluation", id)
    return RedirectResponse(f"/console/proposals/{id}#applicant", 303)


@router.post("/proposals/{id}/remarks")
async def add_remark(id: PathId, context: Commenter, text: Annotated[RemarkText, Form()]) -> Response:
    new_remark = await context.reviewing.remarks.add(context.tenant, JobId(id), text, context.by)
    remark = require(new_remark, build_missing_problem("evaluation", id))
    return RedirectResponse(f"/console/proposals/{id}#remark-{remark.id}", 303)


@router.get("/proposals/{id}/contestation")
async def show_contestation(id: PathId, context: CallReader) -> Response:
    job = await context.find_evaluation(id)
    page = build_contestation_page(
        build_contestation(await find_report(context.services.jobs, context.tenant, id), job.id)
    )
    return context.render_page("contestation.html", job=job, page=page)


@router.get("/compare")
async def compare_proposals(
    context: CallReader,
    id: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006 - FastAPI copies it
    comparison_id: Annotated[str, Query(alias="asked", max_length=64)] = "",
) -> Response:
    """Show the proposals ticked in a call's table side by side."""
    evaluation_ids = list(dict.fromkeys(id))
    if not _MIN_COMPARED <= len(evaluation_ids) <= _MAX_COMPARED:
        return context.render_page("choose.html", chosen=len(evaluation_ids), status=422)
    reports = [await _find_evaluation_with_report(context, evaluation_id) for evaluation_id in evaluation_ids]
    columns = [(job, report, None if report is None else compute_figures(report)) for job, report in reports]
    evidences = [None if report is None else build_evidence_view(report) for _, report in reports]
    titles = {part.name: part.title for _, _, figures in columns if figures for part in figures.parts}
    shares = {name: [_get_share(figures, name) for _, _, figures in columns] for name in titles}
    ideas = {report.idea.id: job.subject or job.id for job, report in reports if report is not None}
    verdicts = (
        await context.services.pair_verdicts.list_comparisons(context.tenant, list(ideas)) if len(ideas) > 1 else []
    )
    return context.render_page(
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
        spread={name: _compute_spread(values) for name, values in shares.items()},
        judged_pairs=group_judged_pairs(verdicts, ideas),
        can_compare=len(ideas) == len(evaluation_ids) == _MIN_COMPARED and context.caller.may("manage calls"),
        unfinished_comparison=await _find_unfinished_comparison(context, comparison_id) if comparison_id else None,
    )


@router.post("/compare")
async def request_comparison(
    context: CallManager, first: Annotated[str, Form(max_length=64)], second: Annotated[str, Form(max_length=64)]
) -> Response:
    """Queue a comparison: a judge decides which of two evaluated proposals is better, and is asked in both orders."""
    job = JobId(context.services.new_id("cp"))
    ideas = [
        await get_evaluated_idea(context.services.jobs, context.tenant, evaluation_id, "")
        for evaluation_id in (first, second)
    ]
    request = build_comparison_request(
        ideas[0], ideas[1], blind=context.services.options.is_judged_blind(None, several=True)
    )
    subject = f"{ideas[0].title} / {ideas[1].title}"
    job_ids = (JobId(first), JobId(second))
    new_job = NewJob(id=job, request=request, subject=subject, priority="interactive", required_evaluations=job_ids)
    await context.services.jobs.add(context.tenant, [new_job])
    return RedirectResponse(f"/console/compare?id={first}&id={second}&asked={job}#judged", 303)


async def _find_unfinished_comparison(context: PageContext, id: str) -> Job | None:
    """Return the requested comparison if it exists and has not succeeded yet, otherwise None."""
    job = await context.services.jobs.get(context.tenant, JobId(id))
    return job if job is not None and job.kind == "comparison" and job.state != "succeeded" else None


def _get_share(figures: ReportFigures | None, name: str) -> float | None:
    parts = figures.parts if figures else ()
    return next((part.share for part in parts if part.name == name), None)


def _compute_spread(shares: list[float | None]) -> float | None:
    """Return the difference between the highest and lowest scores; None if fewer than two proposals have a score."""
    known_shares = [share for share in shares if share is not None]
    return max(known_shares) - min(known_shares) if len(known_shares) > 1 else None


async def _find_evaluation_with_report(context: PageContext, id: str) -> tuple[Job, Report | None]:
    """Return an evaluation and, if it has succeeded, its report. Raises HttpProblem if the evaluation does not
    exist."""
    job = await context.find_evaluation(id)
    return job, await context.services.jobs.get_report(context.tenant, job.id) if job.state == "succeeded" else None


class DimensionVerdict(NamedTuple):
    dimension: str
    better: str | None
    """Title of the better proposal; None if neither is better."""
    order: str
    """A phrase that states whether the judge was asked in both orders, and whether its verdicts agree."""
    reasons: tuple[str, ...]


class JudgedPair(NamedTuple):
    titles: tuple[str, str]
    job: str
    kind: str
    subject: str
    verdicts: tuple[DimensionVerdict, ...]


def group_judged_pairs(comparisons: Iterable[SourcedComparison], titles: Mapping[IdeaId, str]) -> list[JudgedPair]:
    """Group comparisons by job (a comparison or a ranking) and by pair of ideas. `titles` holds the ideas' titles."""
    comparisons_by_pair: dict[tuple[str, frozenset[str]], list[SourcedComparison]] = {}
    for comparison in comparisons:
        comparisons_by_pair.setdefault(
            (comparison.job, frozenset((comparison.answer.first, comparison.answer.second))), []
        ).append(comparison)
    return [
        _build_pair(pair_comparisons, titles)
        for pair_comparisons in comparisons_by_pair.values()
        if len({pair_comparisons[0].answer.first, pair_comparisons[0].answer.second}) > 1
    ]


def _build_pair(comparisons: list[SourcedComparison], titles: Mapping[IdeaId, str]) -> JudgedPair:
    first_id, second_id = comparisons[0].answer.first, comparisons[0].answer.second
    answers = [comparison.answer for comparison in comparisons]
    title_of = {"first": titles[first_id], "second": titles[second_id]}
    verdicts = tuple(
        DimensionVerdict(
            dimension=outcome.dimension,
            better=title_of.get(outcome.winner),
            order=_describe_order(outcome.orders_agree),
            reasons=tuple(_list_reasons(answers, outcome.dimension, first_id)),
        )
        for outcome in compute_outcomes(first_id, answers)
    )
    return JudgedPair(
        (titles[first_id], titles[second_id]), comparisons[0].job, comparisons[0].kind, comparisons[0].subject, verdicts
    )


def _describe_order(orders_agree: bool | None) -> str:
    match orders_agree:
        case None:
            return "asked in one order only"
        case True:
            return "the same in both orders"
        case False:
            return "different in each order"


def _list_reasons(answers: Iterable[Comparison], dimension: str, first_id: IdeaId) -> Iterable[str]:
    for answer in answers:
        for verdict in answer.verdicts:
            if verdict.dimension == dimension and verdict.reason:
                yield verdict.reason if answer.first == first_id else f"In the other order: {verdict.reason}"
