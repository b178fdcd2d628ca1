"""`/v1/rankings`: many ideas in one order, with how certain it is."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response

from assayer.models.ranking import Comparison, Ranking
from assayer.ranking.comparison import comparisons_to_jsonl
from assayer.reports.head_to_head import MOST_IDEAS
from assayer.reports.json_and_csv import as_csv, as_ranking_json
from assayer.reports.ranking_page import as_ranking_html, as_ranking_markdown
from orchestrator.api.authentication import Reader, Submitter
from orchestrator.api.common_schemas import JobResource, Page, PageQuery, Reference, Resource
from orchestrator.api.content_negotiation import negotiated_media_type
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import (
    JobRoutes,
    accept_job,
    act_by,
    find_job,
    job_fields,
    no_result_problem,
    report_representations,
    report_response,
    submission_route,
)
from orchestrator.api.openapi import problem_responses
from orchestrator.api.pagination import decode_cursor, page_of
from orchestrator.api.ranking_candidates import (
    LeftOut,
    Name,
    RankingBody,
    UnscoredIdea,
    comparisons_of,
    ranking_request,
)
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.models import BatchId, Job, JobId, JobState
from orchestrator.jobs.submissions import NewJob

__all__ = [
    "AcceptedRanking",
    "RankingLinks",
    "RankingResource",
    "RankingsQuery",
    "ranking_links",
    "ranking_resource",
    "router",
]


class RankingsQuery(PageQuery):
    batch: Name | None = None
    """Only rankings that hold two of its ideas or more, whoever started them and however they were given."""
    reference: Reference | None = None
    """Only rankings with an idea that its sender calls so, to the letter."""


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
    new = NewJob(
        id=job,
        request=work,
        subject=f"{len(work.ideas):,} ideas",
        priority=body.priority,
        made_of=tuple(candidates.evaluations),
    )
    by = act_by(services, caller, None if body.batch is None else BatchId(body.batch))
    return await accept_job(request, caller, services, new, links.ranking, accepted, idempotency_key, by)


@router.get("", responses=problem_responses(404, 410, 422))
async def listed(
    query: Annotated[RankingsQuery, Query()], caller: Reader, services: ServicesDependency
) -> Page[RankingResource]:
    """One's own rankings, the newest first: all, those of a batch, or those with an idea of this name."""
    batch = None if query.batch is None else BatchId(query.batch)
    if batch is not None:
        await services.find_batch(caller.tenant, batch)
    found = await services.rankings.listed(
        caller.tenant,
        batch=batch,
        reference=query.reference,
        after=decode_cursor(query.after),
        limit=query.limit + 1,
    )
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
    """All comparisons that the ranking rests on, with the senders' names for their ideas."""
    job = await find_job(services, caller.tenant, id, "ranking")
    found = await comparisons_of(services, job)
    names = await services.rankings.references(job.tenant, job.id)
    text = await asyncio.to_thread(comparisons_to_jsonl, found, names)
    return Response(text, 200, {"Cache-Control": "private, no-cache"}, _JSON_LINES)


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
