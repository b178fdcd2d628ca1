"""What is to be ranked: the ideas of a request, or those of a finished batch with what their reports say, and what is
known of them already.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from assayer.blinding.blind import RULES
from assayer.models import Absent, Idea, Report
from assayer.models.ranking import Comparison, NamedComparison
from assayer.models.sender_references import own_reference
from assayer.ranking.comparison import sanitised_comparison
from assayer.ranking.known_comparisons import of_these_words, other_words
from assayer.reports.scores import score_of
from orchestrator.api.common_schemas import Body, IdeaBody, Resource
from orchestrator.api.job_routes import find_job, idea_of, no_result_problem
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services
from orchestrator.jobs.models import BatchId, Job, JobId, LivePriority, TenantId
from orchestrator.jobs.requests import Limits, RankingRequest

__all__ = [
    "LeftOut",
    "Name",
    "RankedIdeaBody",
    "RankingBody",
    "RankingCandidates",
    "UnscoredIdea",
    "comparisons_of",
    "idea_of_report",
    "ranking_request",
]

_MOST_IDEAS = 10_000
_MOST_COMPARISONS = 200_000
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class RankedIdeaBody(IdeaBody):
    id: str = Field(default="", max_length=200)
    """The caller's name for the idea; shown in the report as its source."""
    score: float | None = Field(default=None, allow_inf_nan=False)
    """A point score to start from, on any scale that is the same for all ideas."""


class RankingBody(Body):
    """Ideas, or a finished batch: then the ranking starts from the scores in its reports."""

    ideas: tuple[RankedIdeaBody, ...] | None = Field(default=None, max_length=_MOST_IDEAS)
    batch: Name | None = None
    cut: int | None = Field(default=None, ge=1, le=_MOST_IDEAS)
    """How many are to be chosen: says which are clearly in, clearly out, or need a human decision."""
    calls_per_idea: float | None = Field(default=None, gt=0, le=1_000, allow_inf_nan=False)
    """Comparisons to ask, divided by the number of ideas; null: the service's setting."""
    comparisons: tuple[NamedComparison, ...] = Field(default=(), max_length=_MOST_COMPARISONS)
    """Of an earlier ranking or comparison; those between two of these ideas are not asked again. The names of their
    ideas are not kept."""
    earlier: Name | None = None
    """An earlier ranking of one's own, whose comparisons are used in the same way."""
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and the like before the judge sees the ideas; null: yes, unless the
    service is set otherwise. Ideas of a batch that was judged blind are masked whatever the service is set to."""
    limits: Limits = Limits()
    priority: LivePriority = "batch"

    @model_validator(mode="after")
    def _has_ideas_once(self) -> Self:
        if (self.ideas is None) == (self.batch is None):
            raise ValueError("Give either `ideas` or `batch`")
        return self


class LeftOut(Resource):
    """An evaluation of the batch that is not ranked."""

    evaluation: str
    row: int | None
    source: str
    """What its sender calls it: a file's name, `call.csv:7 (A-2026-0007)`."""
    reference: str
    """That name alone: the id that its row holds, a file's name. Empty where there is none."""
    reason: str


class UnscoredIdea(Resource):
    """A report of the batch without a score: its idea is ranked, and starts in the middle."""

    evaluation: str
    row: int | None
    source: str
    """What its sender calls it: a file's name, `call.csv:7 (A-2026-0007)`."""
    reference: str
    """That name alone: the id that its row holds, a file's name. Empty where there is none."""
    reason: str


@dataclass
class RankingCandidates:
    """The ideas to be ranked, in the order in which they came."""

    ideas: dict[str, Idea] = field(default_factory=dict)
    """By id."""
    scores: dict[str, float] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    unscored: list[UnscoredIdea] = field(default_factory=list)
    evaluations: list[JobId] = field(default_factory=list)
    """That were read, those left out among them."""


async def ranking_request(
    body: RankingBody, services: Services, tenant: TenantId
) -> tuple[RankingRequest, RankingCandidates]:
    """Raises HttpProblem."""
    if body.ideas is not None:
        candidates = await asyncio.to_thread(_candidates_of_bodies, body.ideas)
    else:
        candidates = await _candidates_of_batch(services, tenant, BatchId(body.batch or ""))
    _check_candidates(candidates, body)
    blind = _judged_blind(candidates, body, services)
    return (
        RankingRequest(
            ideas=tuple(candidates.ideas.values()),
            cut=body.cut,
            scores=candidates.scores,
            calls_per_idea=body.calls_per_idea,
            known=await _known_comparisons(body, services, tenant, candidates, RULES if blind else None),
            blind=blind,
            limits=body.limits,
        ),
        candidates,
    )


def _check_candidates(candidates: RankingCandidates, body: RankingBody) -> None:
    count = len(candidates.ideas)
    pointer = "/ideas" if body.batch is None else "/batch"
    if count < 2:
        raise HttpProblem.invalid(f"A ranking needs at least two ideas, and there is {count or 'none'}.", pointer)
    if body.cut is not None and body.cut >= count:
        raise HttpProblem.invalid(f"A cut at {body.cut} leaves nothing to decide among {count} ideas.", "/cut")


def _judged_blind(candidates: RankingCandidates, body: RankingBody, services: Services) -> bool:
    masked = sum(idea.blinding is not None for idea in candidates.ideas.values())
    if masked and body.blind is False:
        detail = (
            f"{masked:,} of the {len(candidates.ideas):,} reports were made blind and hold only the masked text. Leave "
            "`blind` out, or give the ideas themselves."
        )
        raise HttpProblem.invalid(detail, "/blind")
    return masked > 0 or services.judged_blind(body.blind, several=True)


def _candidates_of_bodies(bodies: Sequence[RankedIdeaBody]) -> RankingCandidates:
    candidates = RankingCandidates()
    places: dict[str, int] = {}
    for place, body in enumerate(bodies):
        idea = idea_of(body, body.id or f"idea {place + 1}", f"/ideas/{place}")
        if idea.id in places:
            detail = f"It has the same words as /ideas/{places[idea.id]}. Give every idea once."
            raise HttpProblem.invalid(detail, f"/ideas/{place}")
        places[idea.id] = place
        candidates.ideas[idea.id] = idea
        if body.score is not None:
            candidates.scores[idea.id] = body.score
    return candidates


async def _candidates_of_batch(services: Services, tenant: TenantId, name: BatchId) -> RankingCandidates:
    batch = await services.find_batch(tenant, name)
    if batch.finished_at is None:
        raise HttpProblem(
            "not-finished", f"The batch {name} has not finished. Its events tell when it has; DELETE cancels the rest."
        )
    candidates = RankingCandidates()
    first: dict[str, str] = {}
    async for job, _, report in services.jobs.batch_rows(tenant, name):
        candidates.evaluations.append(job.id)
        if report is None:
            reason = job.problem.title if job.problem else f"It has no report: it is {job.state}."
        elif report.idea.id in first:
            reason = f"It has the same words as {first[report.idea.id]}."
        else:
            first[report.idea.id] = job.source or f"row {job.row}"
            _add_report(candidates, job, report)
            continue
        candidates.left_out.append(LeftOut(**_named(job), reason=reason))
    return candidates


def _add_report(candidates: RankingCandidates, job: Job, report: Report) -> None:
    candidates.ideas[report.idea.id] = idea_of_report(report)
    score = score_of(report)
    if isinstance(score, Absent):
        candidates.unscored.append(UnscoredIdea(**_named(job), reason=score.reason))
    else:
        candidates.scores[report.idea.id] = score


def _named(job: Job) -> dict[str, Any]:
    reference = own_reference(job.source, job.row)
    return {"evaluation": job.id, "row": job.row, "source": job.source, "reference": reference}


def idea_of_report(report: Report) -> Idea:
    """As it was judged: masked where that was done blind."""
    card = report.idea
    return Idea(
        id=card.id,
        title=card.title,
        text=card.text,
        sections=(),
        source=card.source,
        flags=card.flags,
        blinding=card.blinding,
    )


async def _known_comparisons(
    body: RankingBody, services: Services, tenant: TenantId, candidates: RankingCandidates, rules: int | None
) -> tuple[Comparison, ...]:
    """Those between two of the ideas. Where none is, or one was judged by other words than this ranking judges by, the
    request is refused: it must be a mistake."""
    given = [one.without_names() for one in body.comparisons]
    if body.earlier is not None:
        given += await _earlier_comparisons(services, tenant, body.earlier)
    ideas = candidates.ideas
    judging = services.judging._replace(rules=rules)
    known = of_these_words(given, ideas.keys(), judging)
    pointer = "/comparisons" if body.comparisons else "/earlier"
    if known.refused:
        detail = f"{other_words(known.refused, judging)} Leave them out, or change `blind` if that is the reason."
        raise HttpProblem.invalid(detail, pointer)
    if given and not known.usable:
        raise HttpProblem.invalid(
            f"None of the {len(given):,} comparisons is between two of these {len(ideas):,} ideas. An idea whose words "
            "have changed is another idea.",
            pointer,
        )
    return await asyncio.to_thread(lambda: tuple(sanitised_comparison(one) for one in known.usable))


async def _earlier_comparisons(services: Services, tenant: TenantId, name: str) -> Sequence[Comparison]:
    job: Job = await find_job(services, tenant, name, "ranking")
    return await comparisons_of(services, job)


async def comparisons_of(services: Services, job: Job) -> Sequence[Comparison]:
    """Raises HttpProblem where there is no ranking."""
    found = await services.rankings.comparisons(job.tenant, job.id)
    if not found and await services.rankings.summary(job.tenant, job.id) is None:
        raise no_result_problem(job)
    return found
