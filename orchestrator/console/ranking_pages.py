"""Pages under `/console/calls/{id}/rankings`: rank a call's proposals, follow progress, and move the cutoff."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.responses import Response

from assayer.models import Absent, Frozen
from assayer.ranking.options import RankingOptions
from assayer.reports.wording import describe_erased_ranks
from assayer_client.resources import ResourceName
from orchestrator.console.page_context import CallManager, CallReader, PageContext
from orchestrator.console.shortlist import build_shortlist
from orchestrator.jobs.models import TERMINAL, Job, JobId
from orchestrator.jobs.requests import Limits, RankingRequest
from orchestrator.jobs.submissions import BatchStatus, NewJob, format_call_title
from orchestrator.problems import HttpProblem
from orchestrator.services.job_lookup import find_job
from orchestrator.services.ranking_candidates import RankingBody, RankingCandidates, build_ranking_request
from orchestrator.web.path_parameters import CallInPath, PathId

router = APIRouter(prefix="/console/calls/{id}/rankings", tags=["pages"], include_in_schema=False)

_MIN_PAID_COMPARISONS = 10
"""Minimum number of paid comparisons in an earlier ranking from which the cost is estimated."""


class RankingChoice(Frozen):
    """The settings chosen before a ranking is started."""

    shortlist_size: int | None = Field(default=None, ge=1, le=10_000)
    comparisons_per_idea: float = Field(
        default=RankingOptions.model_fields["comparisons_per_idea"].default, gt=0, le=1_000, allow_inf_nan=False
    )
    max_usd: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    previous_ranking: ResourceName | None = None
    """An earlier ranking whose comparisons are reused."""


class _RankingForm(Frozen, extra="ignore", defer_build=False):
    """The form's values exactly as entered."""

    shortlist_size: str = Field(default="", max_length=20)
    comparisons_per_idea: str = Field(default="", max_length=20)
    max_usd: str = Field(default="", max_length=20)
    previous_ranking: str = Field(default="", max_length=64)

    def get_filled_fields(self) -> dict[str, str]:
        """Return the fields that are not empty."""
        return {name: text for name, value in self.model_dump().items() if (text := value.strip())}


class RankingEstimate(Frozen):
    idea_count: int
    excluded: tuple[tuple[int | None, str, str], ...]
    """The call's rows that are not ranked: row number, source and reason."""
    unscored: int
    comparisons: int
    reused_comparisons: int
    """Number of comparisons reused from the earlier ranking."""
    cost_usd: float | Absent
    """Estimated cost of the comparisons still to be made."""


@router.get("")
async def list_rankings(context: CallReader, call: CallInPath, entered: Annotated[_RankingForm, Query()]) -> Response:
    """Show the call's rankings and, if settings were entered, the estimated cost of a new one."""
    choice, fault, estimate = RankingChoice(), "", None
    if any(entered.get_filled_fields()) and context.caller.may("manage calls"):
        try:
            choice = _parse_choice(entered)
            estimate = await _estimate_ranking(context, call, choice)
        except HttpProblem as problem:
            fault = problem.detail
    return await context.render_call_page(
        "rankings.html",
        call,
        "rankings",
        rankings=await context.services.rankings.list_rankings(context.tenant, batch=call.id),
        proposal_counts=await context.services.rankings.list_shared_rankings(context.tenant, call.id),
        choice=choice,
        estimate=estimate,
        fault=fault,
    )


@router.post("")
async def start_ranking(context: CallManager, call: CallInPath, entered: Annotated[_RankingForm, Form()]) -> Response:
    choice = _parse_choice(entered)
    request, candidates = await _build_request(context, call, choice)
    context.services.options.check_limit(choice.max_usd)
    job = JobId(context.services.new_id("rk"))
    subject = f"{format_call_title(call)}: {len(request.ideas):,} proposals"
    new_job = NewJob(
        id=job, request=request, subject=subject, priority="batch", required_evaluations=tuple(candidates.evaluations)
    )
    await context.services.jobs.add(context.tenant, [new_job], by=context.by._replace(call=call.id))
    return RedirectResponse(f"/console/calls/{call.id}/rankings/{job}", 303)


@router.get("/{ranking}")
async def show_ranking(
    ranking: PathId,
    context: CallReader,
    call: CallInPath,
    shortlist_size: Annotated[int | None, Query(ge=1, le=10_000)] = None,
) -> Response:
    """Show a ranking's progress, or its result at a cutoff."""
    rankings, tenant = context.services.rankings, context.tenant
    job = await find_job(context.services.jobs, tenant, ranking, "ranking")
    summary = await rankings.get_summary(tenant, job.id)
    standings = await rankings.get_standings(tenant, call.id, job.id)
    shown_shortlist = None
    if summary is not None and standings is not None:
        shown_shortlist = await asyncio.to_thread(build_shortlist, standings, summary, shortlist_size)
    unranked, unranked_count = await rankings.list_unranked(tenant, call.id, job.id) if shown_shortlist else ((), 0)
    return context.render_page(
        "ranking.html",
        call=call,
        job=job,
        summary=summary,
        shortlist=shown_shortlist,
        erased=describe_erased_ranks(summary.erased, "proposal") if summary else "",
        unranked=unranked,
        unranked_count=unranked_count,
        progress=await _read_progress(context, job),
        waiting=await context.services.jobs.explain_waiting(tenant, job.id),
    )


@router.get("/{ranking}/progress")
async def show_progress(id: PathId, ranking: PathId, context: CallReader) -> Response:
    """Return the page fragment that changes while the ranking is running. Once the ranking has ended, htmx reloads the
    whole page."""
    job = await find_job(context.services.jobs, context.tenant, ranking, "ranking")
    page = context.render_page(
        "ranking_progress.html",
        job=job,
        progress=await _read_progress(context, job),
        waiting=await context.services.jobs.explain_waiting(context.tenant, job.id),
    )
    if job.state in TERMINAL:
        page.headers["HX-Refresh"] = "true"
    return page


def _parse_choice(entered: _RankingForm) -> RankingChoice:
    """Parse the form; empty fields get their defaults. Raises HttpProblem if a value is invalid."""
    try:
        return RankingChoice.model_validate_strings(entered.get_filled_fields())
    except ValueError:
        raise HttpProblem.invalid(
            "“Number to be chosen” must be a whole number of at least 1. “Comparisons per proposal” and “Cost "
            "limit” must be numbers above 0. An earlier ranking must be one of those listed.",
            "/shortlist_size",
        ) from None


async def _build_request(
    context: PageContext, call: BatchStatus, choice: RankingChoice
) -> tuple[RankingRequest, RankingCandidates]:
    """Return the request for the chosen ranking. Raises HttpProblem if the call cannot be ranked."""
    body = RankingBody(
        batch=call.id,
        shortlist_size=choice.shortlist_size,
        comparisons_per_idea=choice.comparisons_per_idea,
        previous_ranking=choice.previous_ranking,
        limits=Limits(max_usd=choice.max_usd),
    )
    services = context.services
    return await build_ranking_request(body, context.tenant, services.jobs, services.rankings, services.options)


async def _estimate_ranking(context: PageContext, call: BatchStatus, choice: RankingChoice) -> RankingEstimate:
    """Estimate the size and cost of the chosen ranking. Raises HttpProblem if the call cannot be ranked."""
    request, candidates = await _build_request(context, call, choice)
    count = len(request.ideas)
    comparisons = min(round(choice.comparisons_per_idea * count), count * (count - 1))
    comparison_count = min(comparisons, len({(comparison.first, comparison.second) for comparison in request.known}))
    return RankingEstimate(
        idea_count=count,
        excluded=tuple((evaluation.row, evaluation.source, evaluation.reason) for evaluation in candidates.excluded),
        unscored=len(candidates.unscored),
        comparisons=comparisons,
        reused_comparisons=comparison_count,
        cost_usd=await _estimate_cost(context, comparisons - comparison_count),
    )


async def _estimate_cost(context: PageContext, comparisons: int) -> float | Absent:
    """Estimate what comparisons will cost, from the cost per comparison in the tenant's latest suitable ranking."""
    for job in await context.services.jobs.list(context.tenant, kind="ranking", state="succeeded", limit=5):
        summary = await context.services.rankings.get_summary(context.tenant, job.id)
        if summary is None or isinstance(summary.cost_usd, Absent):
            continue
        paid_comparisons = summary.judge.comparisons - summary.judge.submitted_comparisons
        if paid_comparisons >= _MIN_PAID_COMPARISONS:
            return comparisons * summary.cost_usd / paid_comparisons
    return Absent(reason="The cost of a comparison cannot be estimated from your recent rankings.")


async def _read_progress(context: PageContext, job: Job) -> tuple[int, int] | None:
    """Return how many comparisons are done, and how many there are in total, according to the latest progress event.
    None if the job is not running or has not reported progress yet."""
    if job.state != "running":
        return None
    event = await context.services.events.get_latest(job.id, "progress")
    stages = event.data.get("stages", ()) if event is not None else ()
    return next(((int(stage["done"]), int(stage["total"])) for stage in stages if stage.get("total")), None)
