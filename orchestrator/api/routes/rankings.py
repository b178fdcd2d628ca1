"""`/v1/rankings`: many ideas in one order, with how certain it is."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Self

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import Field, model_validator

from assayer.blinding.blind import RULES
from assayer.models import Absent, Idea, Report
from assayer.models.ranking import Comparison, Ranking
from assayer.ranking.comparison import comparisons_to_jsonl, sanitised_comparison
from assayer.ranking.known_comparisons import of_these_words, other_words
from assayer.reports.head_to_head import MOST_IDEAS
from assayer.reports.json_and_csv import as_csv, as_ranking_json
from assayer.reports.ranking_page import as_ranking_html, as_ranking_markdown
from assayer.reports.scores import score_of
from orchestrator.api.authentication import Reader, Submitter
from orchestrator.api.common_schemas import Body, IdeaBody, JobResource, Page, PageQuery, Resource
from orchestrator.api.content_negotiation import negotiated_media_type
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import (
    JobRoutes,
    accept_job,
    find_job,
    idea_of,
    job_fields,
    no_result_problem,
    report_representations,
    report_response,
    submission_route,
)
from orchestrator.api.openapi import problem_responses
from orchestrator.api.pagination import decode_cursor, page_of
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.models import BatchId, Job, JobId, JobState, LivePriority, TenantId
from orchestrator.jobs.requests import Limits, RankingRequest
from orchestrator.jobs.submissions import NewJob

__all__ = [
    "AcceptedRanking",
    "LeftOut",
    "RankedIdeaBody",
    "RankingBody",
    "RankingCandidates",
    "RankingLinks",
    "RankingResource",
    "RankingsQuery",
    "ranking_links",
    "ranking_request",
    "ranking_resource",
    "router",
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
    comparisons: tuple[Comparison, ...] = Field(default=(), max_length=_MOST_COMPARISONS)
    """Of an earlier ranking or comparison; those between two of these ideas are not asked again."""
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


class RankingsQuery(PageQuery):
    batch: Name | None = None
    """Only rankings that hold two of its ideas or more, whoever started them and however they were given."""


class LeftOut(Resource):
    """An evaluation of the batch that is not ranked."""

    evaluation: str
    row: int | None
    source: str
    """What its sender calls it: a file's name, `call.csv:7 (A-2026-0007)`."""
    reason: str


class UnscoredIdea(Resource):
    """A report of the batch without a score: its idea is ranked, and starts in the middle."""

    evaluation: str
    row: int | None
    source: str
    """What its sender calls it: a file's name, `call.csv:7 (A-2026-0007)`."""
    reason: str


class RankingLinks(Resource):
    ranking: str
    report: str
    comparisons: str
    events: str


class AcceptedRanking(Resource):
    """The ranking is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    ideas: int
    seeded: int
    """Ideas that start from a score; the others start in the middle."""
    known: int
    """Comparisons that are not asked again."""
    blind: bool = False
    """Whether names, affiliations and the like are masked for the judge."""
    left_out: tuple[LeftOut, ...]
    unscored: tuple[UnscoredIdea, ...] = ()
    links: RankingLinks


class RankingResource(JobResource):
    links: RankingLinks


router = APIRouter(prefix="/v1/rankings", tags=["rankings"])

_RENDERERS: dict[str, Callable[[Ranking, Sequence[Comparison]], str]] = {
    "application/json": lambda ranking, _: as_ranking_json(ranking),
    "text/markdown": as_ranking_markdown,
    "text/html": as_ranking_html,
    "text/csv": lambda ranking, _: as_csv(ranking),
}
_REPORT = report_representations("The ranking, in the form that `Accept` prefers", tuple(_RENDERERS))
_JSON_LINES = "application/jsonl"
_COMPARISONS = {
    "description": "One comparison a line; they can be given to a later ranking, or to `assayer rank --known`",
    "content": {_JSON_LINES: {"schema": {"type": "string"}}},
}


@router.post(**submission_route(404, 409, 410, accepted=AcceptedRanking))
async def ask(
    body: RankingBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Ranks ideas by comparing them in pairs."""
    work, candidates = await ranking_request(body, services, caller.tenant)
    job = JobId(services.new_id("rk"))
    links = ranking_links(job)
    accepted = AcceptedRanking(
        id=job,
        ideas=len(work.ideas),
        seeded=len(work.scores),
        known=len(work.known),
        blind=work.blind,
        left_out=tuple(candidates.left_out),
        unscored=tuple(candidates.unscored),
        links=links,
    )
    new = NewJob(id=job, request=work, subject=f"{len(work.ideas):,} ideas", priority=body.priority)
    return await accept_job(request, caller, services, new, links.ranking, accepted, idempotency_key)


@router.get("", responses=problem_responses(404, 410, 422))
async def listed(
    query: Annotated[RankingsQuery, Query()], caller: Reader, services: ServicesDependency
) -> Page[RankingResource]:
    """One's own rankings, the newest first: all, or those of a batch."""
    after, limit = decode_cursor(query.after), query.limit + 1
    if query.batch is None:
        found = await services.jobs.list(caller.tenant, kind="ranking", after=after, limit=limit)
        return page_of(found, query.limit, ranking_resource)
    batch = BatchId(query.batch)
    await services.find_batch(caller.tenant, batch)
    found = await services.rankings.of_call(caller.tenant, batch, after=after, limit=limit)
    return page_of(found, query.limit, ranking_resource)


@router.get(
    "/{id}/report", response_class=Response, responses={200: _REPORT, **problem_responses(404, 406, 409, 410, 422)}
)
async def report(
    id: PathId, caller: Reader, services: ServicesDependency, accept: Annotated[str | None, Header()] = None
) -> Response:
    """The ranking as JSON, Markdown, a page or a table. Without one: 409 and why, or 410 when it has been deleted."""
    media_type = negotiated_media_type(accept, tuple(_RENDERERS))
    job = await find_job(services, caller.tenant, id, "ranking")
    ranking = await services.rankings.whole(job.tenant, job.id)
    if ranking is None:
        raise no_result_problem(job)
    small = len(ranking.ideas) <= MOST_IDEAS
    shown = await services.rankings.comparisons(job.tenant, job.id) if small else ()
    text = await asyncio.to_thread(_RENDERERS[media_type], ranking, shown)
    return report_response(text, media_type, "report.css", "ranking.css")


@router.get(
    "/{id}/comparisons", response_class=Response, responses={200: _COMPARISONS, **problem_responses(404, 409, 410, 422)}
)
async def comparisons(id: PathId, caller: Reader, services: ServicesDependency) -> Response:
    """All comparisons that the ranking rests on."""
    job = await find_job(services, caller.tenant, id, "ranking")
    found = await _comparisons_of(services, job)
    text = await asyncio.to_thread(comparisons_to_jsonl, found)
    return Response(text, 200, {"Cache-Control": "private, no-cache"}, _JSON_LINES)


async def _comparisons_of(services: Services, job: Job) -> Sequence[Comparison]:
    """Raises HttpProblem where there is no ranking."""
    found = await services.rankings.comparisons(job.tenant, job.id)
    if not found and await services.rankings.summary(job.tenant, job.id) is None:
        raise no_result_problem(job)
    return found


@dataclass
class RankingCandidates:
    """The ideas to be ranked, in the order in which they came."""

    ideas: dict[str, Idea] = field(default_factory=dict)
    """By id."""
    scores: dict[str, float] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    unscored: list[UnscoredIdea] = field(default_factory=list)


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
        if report is None:
            reason = job.problem.title if job.problem else f"It has no report: it is {job.state}."
        elif report.idea.id in first:
            reason = f"It has the same words as {first[report.idea.id]}."
        else:
            first[report.idea.id] = job.source or f"row {job.row}"
            _add_report(candidates, job, report)
            continue
        candidates.left_out.append(LeftOut(evaluation=job.id, row=job.row, source=job.source, reason=reason))
    return candidates


def _add_report(candidates: RankingCandidates, job: Job, report: Report) -> None:
    candidates.ideas[report.idea.id] = idea_of_report(report)
    score = score_of(report)
    if isinstance(score, Absent):
        unscored = UnscoredIdea(evaluation=job.id, row=job.row, source=job.source, reason=score.reason)
        candidates.unscored.append(unscored)
    else:
        candidates.scores[report.idea.id] = score


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
    given = list(body.comparisons)
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
    return await _comparisons_of(services, job)


def ranking_links(job: str) -> RankingLinks:
    own = f"/v1/rankings/{job}"
    return RankingLinks(ranking=own, report=f"{own}/report", comparisons=f"{own}/comparisons", events=f"{own}/events")


def ranking_resource(job: Job) -> RankingResource:
    return RankingResource(**job_fields(job), links=ranking_links(job.id))


async def show_ranking(_: Services, job: Job) -> RankingResource:
    return ranking_resource(job)


_ROUTES = JobRoutes(router, "ranking", RankingResource, ranking_resource, show_ranking)
_ROUTES.add_one("One ranking as it stands.", 422)
_ROUTES.add_cancel()
