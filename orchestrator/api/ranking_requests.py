"""From the body of a request to the ranking that is stored: its ideas, where they start, what is known of them."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from assayer.models import Idea, Report
from assayer.models.ranking import Comparison
from assayer.ranking.handed_in import sanitised
from assayer.reports.point_score import score_of
from orchestrator.api.asking import idea_of
from orchestrator.api.jobs import found, missing, without_result
from orchestrator.api.problems import Refusal
from orchestrator.api.ranking_resources import LeftOut, RankedIdeaBody, RankingBody
from orchestrator.api.services import Services
from orchestrator.jobs.models import BatchId, Job, TenantId
from orchestrator.jobs.requests import RankingRequest
from orchestrator.jobs.results import RankingResult

__all__ = ["Candidates", "ranking_request"]


@dataclass
class Candidates:
    """What is to be ranked, in the order in which it came."""

    ideas: dict[str, Idea] = field(default_factory=dict)
    """By id."""
    scores: dict[str, float] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)


async def ranking_request(body: RankingBody, services: Services, tenant: TenantId) -> tuple[RankingRequest, Candidates]:
    """Raises Refusal."""
    if body.ideas is not None:
        candidates = await asyncio.to_thread(_of_bodies, body.ideas)
    else:
        candidates = await _of_batch(services, tenant, BatchId(body.batch or ""))
    _check(candidates, body)
    return (
        RankingRequest(
            ideas=tuple(candidates.ideas.values()),
            cut=body.cut,
            scores=candidates.scores,
            calls_per_idea=body.calls_per_idea,
            known=await _known(body, services, tenant, candidates),
            limits=body.limits,
        ),
        candidates,
    )


def _check(candidates: Candidates, body: RankingBody) -> None:
    count = len(candidates.ideas)
    pointer = "/ideas" if body.batch is None else "/batch"
    if count < 2:
        raise Refusal.invalid(f"A ranking needs at least two ideas, and there is {count or 'none'}.", pointer)
    if body.cut is not None and body.cut >= count:
        raise Refusal.invalid(f"A cut at {body.cut} leaves nothing to decide among {count} ideas.", "/cut")


def _of_bodies(bodies: Sequence[RankedIdeaBody]) -> Candidates:
    candidates = Candidates()
    places: dict[str, int] = {}
    for place, body in enumerate(bodies):
        idea = idea_of(body, body.id or f"idea {place + 1}", f"/ideas/{place}")
        if idea.id in places:
            said = f"It has the same words as /ideas/{places[idea.id]}. Give every idea once."
            raise Refusal.invalid(said, f"/ideas/{place}")
        places[idea.id] = place
        candidates.ideas[idea.id] = idea
        if body.score is not None:
            candidates.scores[idea.id] = body.score
    return candidates


async def _of_batch(services: Services, tenant: TenantId, name: BatchId) -> Candidates:
    batch = await services.jobs.batch(tenant, name)
    if batch is None:
        raise missing("batch", name)
    if batch.finished_at is None:
        raise Refusal(
            "not-finished", f"The batch {name} has not finished. Its events tell when it has; DELETE cancels the rest."
        )
    candidates = Candidates()
    first: dict[str, int | None] = {}
    async for job, _, report in services.jobs.reports(tenant, name):
        if report is None:
            reason = job.problem.title if job.problem else f"It has no report: it is {job.state}."
        elif report.idea.id in first:
            reason = f"It has the same words as row {first[report.idea.id]}."
        else:
            first[report.idea.id] = job.row
            _add(candidates, report)
            continue
        candidates.left_out.append(LeftOut(evaluation=job.id, row=job.row, reason=reason))
    return candidates


def _add(candidates: Candidates, report: Report) -> None:
    card = report.idea
    candidates.ideas[card.id] = Idea(
        id=card.id, title=card.title, text=card.text, sections=(), source=card.source, flags=card.flags
    )
    if (score := score_of(report)) is not None:
        candidates.scores[card.id] = score


async def _known(
    body: RankingBody, services: Services, tenant: TenantId, candidates: Candidates
) -> tuple[Comparison, ...]:
    """Those between two of the ideas. Comparisons of quite other ideas are refused: something else was meant."""
    given = list(body.comparisons)
    if body.earlier is not None:
        given += await _earlier(services, tenant, body.earlier)
    ideas = candidates.ideas
    known = await asyncio.to_thread(_between, ideas, given)
    if given and not known:
        pointer = "/comparisons" if body.comparisons else "/earlier"
        raise Refusal.invalid(
            f"None of the {len(given):,} comparisons is between two of these {len(ideas):,} ideas. An idea whose words "
            "have changed is another idea.",
            pointer,
        )
    return known


def _between(ideas: Collection[str], given: Sequence[Comparison]) -> tuple[Comparison, ...]:
    return tuple(sanitised(one) for one in given if one.first in ideas and one.second in ideas)


async def _earlier(services: Services, tenant: TenantId, name: str) -> Sequence[Comparison]:
    job: Job = await found(services, tenant, name, "ranking")
    kept = await services.jobs.result(tenant, job.id)
    if kept is None:
        raise without_result(job)
    return RankingResult.model_validate(kept).comparisons
