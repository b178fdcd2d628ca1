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
from orchestrator.console.page_context import CallReader, CallRunner, PageContext
from orchestrator.console.shortlist import shortlist
from orchestrator.jobs.models import TERMINAL, Job, JobId
from orchestrator.jobs.requests import Limits, RankingRequest
from orchestrator.jobs.submissions import BatchStatus, NewJob, call_title
from orchestrator.problems import HttpProblem
from orchestrator.services.job_lookup import find_job
from orchestrator.services.ranking_candidates import RankingBody, RankingCandidates, ranking_request
from orchestrator.web.path_parameters import PathId
from orchestrator.web.things_in_paths import CallInPath

router = APIRouter(prefix="/console/calls/{id}/rankings", tags=["pages"], include_in_schema=False)

_MIN_PRICED = 10
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


class _Entered(Frozen, extra="ignore", defer_build=False):
    """The form's values exactly as entered."""

    shortlist_size: str = Field(default="", max_length=20)
    comparisons_per_idea: str = Field(default="", max_length=20)
    max_usd: str = Field(default="", max_length=20)
    previous_ranking: str = Field(default="", max_length=64)

    def values(self) -> dict[str, str]:
        """Return the fields that are not empty."""
        return {name: text for name, value in self.model_dump().items() if (text := value.strip())}


class RankingEstimate(Frozen):
    entrants: int
    left_out: tuple[tuple[int | None, str, str], ...]
    """The call's rows that are not ranked: row number, source and reason."""
    unscored: int
    comparisons: int
    made: int
    """Number of comparisons reused from the earlier ranking."""
    cost_usd: float | Absent
    """Estimated cost of the comparisons still to be made."""


@router.get("")
async def rankings(context: CallReader, call: CallInPath, entered: Annotated[_Entered, Query()]) -> Response:
    """Show the call's rankings and, if settings were entered, the estimated cost of a new one."""
    choice, fault, expected = RankingChoice(), "", None
    if any(entered.values()) and context.caller.may("manage calls"):
        try:
            choice = _choice(entered)
            expected = await _estimate(context, call, choice)
        except HttpProblem as problem:
            fault = problem.detail
    return await context.call_page(
        "rankings.html",
        call,
        "rankings",
        listed=await context.services.rankings.listed(context.tenant, batch=call.id),
        of_others=await context.services.rankings.of_others(context.tenant, call.id),
        choice=choice,
        estimate=expected,
        fault=fault,
    )


@router.post("")
async def start(context: CallRunner, call: CallInPath, entered: Annotated[_Entered, Form()]) -> Response:
    choice = _choice(entered)
    work, candidates = await _request(context, call, choice)
    context.services.options.check_limit(choice.max_usd)
    job = JobId(context.services.new_id("rk"))
    subject = f"{call_title(call)}: {len(work.ideas):,} proposals"
    new = NewJob(id=job, request=work, subject=subject, priority="batch", made_of=tuple(candidates.evaluations))
    await context.services.jobs.add(context.tenant, [new], by=context.by._replace(call=call.id))
    return RedirectResponse(f"/console/calls/{call.id}/rankings/{job}", 303)


@router.get("/{ranking}")
async def ranking(
    ranking: PathId,
    context: CallReader,
    call: CallInPath,
    shortlist_size: Annotated[int | None, Query(ge=1, le=10_000)] = None,
) -> Response:
    """Show a ranking's progress, or its result at a cutoff."""
    rankings, tenant = context.services.rankings, context.tenant
    job = await find_job(context.services.jobs, tenant, ranking, "ranking")
    summary = await rankings.summary(tenant, job.id)
    standings = await rankings.standings(tenant, call.id, job.id)
    shown_shortlist = None
    if summary is not None and standings is not None:
        shown_shortlist = await asyncio.to_thread(shortlist, standings, summary, shortlist_size)
    unranked, not_ranked = await rankings.unranked(tenant, call.id, job.id) if shown_shortlist else ((), 0)
    return context.page(
        "ranking.html",
        call=call,
        job=job,
        summary=summary,
        shown=shown_shortlist,
        erased=describe_erased_ranks(summary.erased, "proposal") if summary else "",
        unranked=unranked,
        not_ranked=not_ranked,
        told=await _progress_of(context, job),
        waiting=await context.services.jobs.waiting_reason(tenant, job.id),
    )


@router.get("/{ranking}/progress")
async def progress(id: PathId, ranking: PathId, context: CallReader) -> Response:
    """Return the page fragment that changes while the ranking is running. Once the ranking has ended, htmx reloads the
    whole page."""
    job = await find_job(context.services.jobs, context.tenant, ranking, "ranking")
    answer = context.page(
        "ranking_progress.html",
        job=job,
        told=await _progress_of(context, job),
        waiting=await context.services.jobs.waiting_reason(context.tenant, job.id),
    )
    if job.state in TERMINAL:
        answer.headers["HX-Refresh"] = "true"
    return answer


def _choice(entered: _Entered) -> RankingChoice:
    """Parse the form; empty fields get their defaults. Raises HttpProblem if a value is invalid."""
    try:
        return RankingChoice.model_validate_strings(entered.values())
    except ValueError:
        raise HttpProblem.invalid(
            "“Number to be chosen” must be a whole number of at least 1. “Comparisons per proposal” and “Cost "
            "limit” must be numbers above 0. An earlier ranking must be one of those listed.",
            "/shortlist_size",
        ) from None


async def _request(
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
    return await ranking_request(body, context.tenant, services.jobs, services.rankings, services.options)


async def _estimate(context: PageContext, call: BatchStatus, choice: RankingChoice) -> RankingEstimate:
    """Estimate the size and cost of the chosen ranking. Raises HttpProblem if the call cannot be ranked."""
    work, candidates = await _request(context, call, choice)
    count = len(work.ideas)
    comparisons = min(round(choice.comparisons_per_idea * count), count * (count - 1))
    comparison_count = min(comparisons, len({(item.first, item.second) for item in work.known}))
    return RankingEstimate(
        entrants=count,
        left_out=tuple((item.row, item.source, item.reason) for item in candidates.left_out),
        unscored=len(candidates.unscored),
        comparisons=comparisons,
        made=comparison_count,
        cost_usd=await _price(context, comparisons - comparison_count),
    )


async def _price(context: PageContext, comparisons: int) -> float | Absent:
    """Estimate what comparisons will cost, from the cost per comparison in the tenant's latest suitable ranking."""
    for job in await context.services.jobs.list(context.tenant, kind="ranking", state="succeeded", limit=5):
        earlier = await context.services.rankings.summary(context.tenant, job.id)
        if earlier is None or isinstance(earlier.cost_usd, Absent):
            continue
        paid_comparisons = earlier.judge.comparisons - earlier.judge.submitted_comparisons
        if paid_comparisons >= _MIN_PRICED:
            return comparisons * earlier.cost_usd / paid_comparisons
    return Absent(reason="The cost of a comparison cannot be estimated from your recent rankings.")


async def _progress_of(context: PageContext, job: Job) -> tuple[int, int] | None:
    """Return how many comparisons are done, and how many there are in total, according to the latest progress event.
    None if the job is not running or has not reported progress yet."""
    if job.state != "running":
        return None
    event = await context.services.events.latest(job.id, "progress")
    stages = event.data.get("stages", ()) if event is not None else ()
    return next(((int(stage["done"]), int(stage["total"])) for stage in stages if stage.get("total")), None)
