"""Pages under `/console/calls/{id}/rankings`: rank the proposals of a call, watch the progress, and move the cutoff."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.responses import Response

from assayer.models import Absent, Frozen
from assayer.ranking.options import RankingOptions
from assayer.reports.wording import erased_ranks
from assayer_client.resources import ResourceName
from orchestrator.access.api_keys import Caller
from orchestrator.access.job_acts import ActBy
from orchestrator.console.scripted_page import page_response
from orchestrator.console.shortlist import shortlist
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId
from orchestrator.jobs.requests import Limits, RankingRequest
from orchestrator.jobs.submissions import BatchStatus, NewJob
from orchestrator.problems import HttpProblem
from orchestrator.services.job_lookup import find_job
from orchestrator.services.ranking_candidates import RankingBody, RankingCandidates, ranking_request
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import allowed_to

router = APIRouter(prefix="/console/calls/{id}/rankings", tags=["pages"], include_in_schema=False)

CallReader = Annotated[Caller, Depends(allowed_to("see calls"))]
CallRunner = Annotated[Caller, Depends(allowed_to("run calls"))]
_LEAST_PRICED = 10
"""Minimum number of comparisons from which a price is estimated."""


class RankingChoice(Frozen):
    """Settings that a person chooses before a ranking begins."""

    cut: int | None = Field(default=None, ge=1, le=10_000)
    calls_per_idea: float = Field(
        default=RankingOptions.model_fields["calls_per_idea"].default, gt=0, le=1_000, allow_inf_nan=False
    )
    max_usd: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    earlier: ResourceName | None = None
    """Earlier ranking whose comparisons are reused instead of requested again."""


class _Entered(Frozen, extra="ignore"):
    """Fields of the form, as entered."""

    cut: str = Field(default="", max_length=20)
    calls_per_idea: str = Field(default="", max_length=20)
    max_usd: str = Field(default="", max_length=20)
    earlier: str = Field(default="", max_length=64)

    def values(self) -> dict[str, str]:
        """Return the fields that are not empty."""
        return {name: text for name, value in self.model_dump().items() if (text := value.strip())}


class RankingEstimate(Frozen):
    entrants: int
    left_out: tuple[tuple[int | None, str, str], ...]
    """Rows of the call that are not ranked, with the reason."""
    unscored: int
    comparisons: int
    made: int
    """Number of comparisons already made in the earlier ranking."""
    cost_usd: float | Absent
    """Estimated cost of the comparisons that remain to be asked."""


@router.get("")
async def rankings(
    id: PathId,
    request: Request,
    who: CallReader,
    services: ServicesDependency,
    entered: Annotated[_Entered, Query()],
) -> Response:
    """Show the rankings of the call; with a choice of settings, also the estimated cost."""
    call = await services.find_batch(who.tenant, id)
    choice, fault, expected = RankingChoice(), "", None
    if any(entered.values()) and who.may("run calls"):
        try:
            choice = _choice(entered)
            expected = await _estimate(services, who.tenant, call, choice)
        except HttpProblem as problem:
            fault = problem.detail
    return page_response(
        "rankings.html",
        request,
        who,
        call=call,
        listed=await services.rankings.listed(who.tenant, batch=call.id),
        choice=choice,
        estimate=expected,
        fault=fault,
    )


@router.post("")
async def start(
    id: PathId,
    who: CallRunner,
    services: ServicesDependency,
    entered: Annotated[_Entered, Form()],
) -> Response:
    call = await services.find_batch(who.tenant, id)
    choice = _choice(entered)
    work, candidates = await _request(services, who.tenant, call, choice)
    job = JobId(services.new_id("rk"))
    subject = f"{call.name or call.id}: {len(work.ideas):,} proposals"
    new = NewJob(id=job, request=work, subject=subject, priority="batch", made_of=tuple(candidates.evaluations))
    await services.jobs.add(who.tenant, [new], by=ActBy(who.actor, services.clock.now(), call.id))
    return RedirectResponse(f"/console/calls/{call.id}/rankings/{job}", 303)


@router.get("/{ranking}")
async def ranking(
    id: PathId,
    ranking: PathId,
    request: Request,
    who: CallReader,
    services: ServicesDependency,
    cut: Annotated[int | None, Query(ge=1, le=10_000)] = None,
) -> Response:
    """Under way, or at a cut."""
    call = await services.find_batch(who.tenant, id)
    job = await find_job(services.jobs, who.tenant, ranking, "ranking")
    summary = await services.rankings.summary(who.tenant, job.id)
    standings = await services.rankings.standings(who.tenant, call.id, job.id)
    shown = None
    if summary is not None and standings is not None:
        shown = await asyncio.to_thread(shortlist, standings, summary, cut)
    unranked, not_ranked = await services.rankings.unranked(who.tenant, call.id, job.id) if shown else ((), 0)
    return page_response(
        "ranking.html",
        request,
        who,
        call=call,
        job=job,
        summary=summary,
        shown=shown,
        erased=erased_ranks(summary.erased, "proposal") if summary else "",
        unranked=unranked,
        not_ranked=not_ranked,
        told=await _told(services, job),
        waiting=await services.jobs.waiting_reason(who.tenant, job.id),
    )


@router.get("/{ranking}/progress")
async def progress(
    id: PathId, ranking: PathId, request: Request, who: CallReader, services: ServicesDependency
) -> Response:
    """Return the part of the page that changes while the ranking is running; once it ends the whole page is
    reloaded."""
    job = await find_job(services.jobs, who.tenant, ranking, "ranking")
    answer = page_response(
        "ranking_progress.html",
        request,
        who,
        job=job,
        told=await _told(services, job),
        waiting=await services.jobs.waiting_reason(who.tenant, job.id),
    )
    if job.state in TERMINAL:
        answer.headers["HX-Refresh"] = "true"
    return answer


def _choice(entered: _Entered) -> RankingChoice:
    """Return the choice entered in a form; empty fields are ignored. Raises HttpProblem."""
    try:
        return RankingChoice.model_validate_strings(entered.values())
    except ValueError:
        raise HttpProblem.invalid(
            "Places are a whole number from 1, comparisons for each proposal and dollars are numbers above 0, and an "
            "earlier ranking is one of those listed.",
            "/cut",
        ) from None


async def _request(
    services: Services, tenant: TenantId, call: BatchStatus, choice: RankingChoice
) -> tuple[RankingRequest, RankingCandidates]:
    """Return the request for the chosen ranking. Raises HttpProblem."""
    body = RankingBody(
        batch=call.id,
        cut=choice.cut,
        calls_per_idea=choice.calls_per_idea,
        earlier=choice.earlier,
        limits=Limits(max_usd=choice.max_usd),
    )
    return await ranking_request(body, tenant, services.jobs, services.rankings, services.options)


async def _estimate(services: Services, tenant: TenantId, call: BatchStatus, choice: RankingChoice) -> RankingEstimate:
    """Raises HttpProblem."""
    work, candidates = await _request(services, tenant, call, choice)
    count = len(work.ideas)
    comparisons = min(round(choice.calls_per_idea * count), count * (count - 1))
    made = min(comparisons, len({(item.first, item.second) for item in work.known}))
    return RankingEstimate(
        entrants=count,
        left_out=tuple((item.row, item.source, item.reason) for item in candidates.left_out),
        unscored=len(candidates.unscored),
        comparisons=comparisons,
        made=made,
        cost_usd=await _price(services, tenant, comparisons - made),
    )


async def _price(services: Services, tenant: TenantId, comparisons: int) -> float | Absent:
    """Estimate the cost of comparisons from the tenant's latest ranking: its cost per comparison asked."""
    for job in await services.jobs.list(tenant, kind="ranking", state="succeeded", limit=5):
        earlier = await services.rankings.summary(tenant, job.id)
        if earlier is None or isinstance(earlier.cost_usd, Absent):
            continue
        asked = earlier.judge.comparisons - earlier.judge.handed_in
        if asked >= _LEAST_PRICED:
            return comparisons * earlier.cost_usd / asked
    return Absent(reason="None of your last rankings tells what a comparison costs.")


async def _told(services: Services, job: Job) -> tuple[int, int] | None:
    """Return the number of comparisons done and the total, from the latest progress event; None if the job is not
    running."""
    if job.state != "running":
        return None
    event = await services.events.latest(job.id, "progress")
    stages = event.data.get("stages", ()) if event is not None else ()
    return next(((int(stage["done"]), int(stage["total"])) for stage in stages if stage.get("total")), None)
