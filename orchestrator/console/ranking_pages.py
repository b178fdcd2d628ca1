"""`/console/calls/{id}/rankings`: rank the proposals of a call, watch it, and move the cut."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.responses import Response

from assayer.models import Absent, Frozen
from assayer.ranking.options import RankingOptions
from assayer.reports.wording import erased_ranks
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.problems import HttpProblem
from orchestrator.api.ranking_candidates import Name, RankingBody, ranking_request
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.console.shortlist import shortlist
from orchestrator.jobs.acts import ActBy
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId
from orchestrator.jobs.requests import Limits
from orchestrator.jobs.submissions import BatchStatus, NewJob

__all__ = ["router"]

router = APIRouter(prefix="/console/calls/{id}/rankings", tags=["pages"], include_in_schema=False)

CallReader = Annotated[SignedIn, Depends(allowed_to("see calls"))]
CallRunner = Annotated[SignedIn, Depends(allowed_to("run calls"))]
_LEAST_PRICED = 10
"""Comparisons from which a price is concluded."""


class RankingChoice(Frozen):
    """What somebody chooses before a ranking begins."""

    cut: int | None = Field(default=None, ge=1, le=10_000)
    calls_per_idea: float = Field(
        default=RankingOptions.model_fields["calls_per_idea"].default, gt=0, le=1_000, allow_inf_nan=False
    )
    max_usd: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    earlier: Name | None = None
    """A ranking whose comparisons are not asked again."""


class RankingEstimate(Frozen):
    entrants: int
    left_out: tuple[tuple[int | None, str, str], ...]
    """Rows of the call that are not ranked, and why."""
    unscored: int
    comparisons: int
    made: int
    """Of these, in the earlier ranking."""
    cost_usd: float | Absent
    """Of those that are to be asked."""


@router.get("")
async def rankings(
    id: PathId,
    request: Request,
    who: CallReader,
    services: ServicesDependency,
    cut: str = "",
    calls_per_idea: str = "",
    max_usd: str = "",
    earlier: str = "",
) -> Response:
    """Those of the call; with a choice also what it would take."""
    call = await services.find_batch(who.tenant, id)
    given = {"cut": cut, "calls_per_idea": calls_per_idea, "max_usd": max_usd, "earlier": earlier}
    choice, fault, expected = RankingChoice(), "", None
    if any(given.values()) and who.may("run calls"):
        try:
            choice = _choice(**given)
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
    cut: Annotated[str, Form(max_length=20)] = "",
    calls_per_idea: Annotated[str, Form(max_length=20)] = "",
    max_usd: Annotated[str, Form(max_length=20)] = "",
    earlier: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    call = await services.find_batch(who.tenant, id)
    choice = _choice(cut, calls_per_idea, max_usd, earlier)
    work, candidates = await ranking_request(_body(call, choice), services, who.tenant)
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
    job = await find_job(services, who.tenant, ranking, "ranking")
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
    """The part of the page that changes while it is under way; at its end the page is asked for as a whole."""
    job = await find_job(services, who.tenant, ranking, "ranking")
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


def _choice(cut: str, calls_per_idea: str, max_usd: str, earlier: str) -> RankingChoice:
    """Of a form, whose empty fields say nothing. Raises HttpProblem."""
    given = {"cut": cut, "calls_per_idea": calls_per_idea, "max_usd": max_usd, "earlier": earlier}
    try:
        return RankingChoice.model_validate_strings(
            {name: value.strip() for name, value in given.items() if value.strip()}
        )
    except ValueError:
        raise HttpProblem.invalid(
            "Places are a whole number from 1, comparisons for each proposal and dollars are numbers above 0, and an "
            "earlier ranking is one of those listed.",
            "/cut",
        ) from None


def _body(call: BatchStatus, choice: RankingChoice) -> RankingBody:
    return RankingBody(
        batch=call.id,
        cut=choice.cut,
        calls_per_idea=choice.calls_per_idea,
        earlier=choice.earlier,
        limits=Limits(max_usd=choice.max_usd),
    )


async def _estimate(services: Services, tenant: TenantId, call: BatchStatus, choice: RankingChoice) -> RankingEstimate:
    """Raises HttpProblem."""
    work, candidates = await ranking_request(_body(call, choice), services, tenant)
    count = len(work.ideas)
    comparisons = min(round(choice.calls_per_idea * count), count * (count - 1))
    made = min(comparisons, len({(one.first, one.second) for one in work.known}))
    return RankingEstimate(
        entrants=count,
        left_out=tuple((one.row, one.source, one.reason) for one in candidates.left_out),
        unscored=len(candidates.unscored),
        comparisons=comparisons,
        made=made,
        cost_usd=await _price(services, tenant, comparisons - made),
    )


async def _price(services: Services, tenant: TenantId, comparisons: int) -> float | Absent:
    """By what the tenant's latest ranking took for each comparison that it asked."""
    for job in await services.jobs.list(tenant, kind="ranking", state="done", limit=5):
        earlier = await services.rankings.summary(tenant, job.id)
        if earlier is None or isinstance(earlier.cost_usd, Absent):
            continue
        asked = earlier.judge.comparisons - earlier.judge.handed_in
        if asked >= _LEAST_PRICED:
            return comparisons * earlier.cost_usd / asked
    return Absent(reason="None of your last rankings tells what a comparison costs.")


async def _told(services: Services, job: Job) -> tuple[int, int] | None:
    """Comparisons that are done, and of how many, by the last event that says so."""
    if job.state != "running":
        return None
    event = await services.events.latest(job.id, "progress")
    stages = event.data.get("stages", ()) if event is not None else ()
    return next(((int(one["done"]), int(one["total"])) for one in stages if one.get("total")), None)
