"""Routes `/v1/rankings`: rankings of many ideas, which state how certain each rank is."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from assayer.ranking.comparison import format_comparisons
from assayer.reports.head_to_head import MAX_IDEAS
from assayer.reports.json_and_csv import render_csv, render_json
from assayer.reports.ranking_page import render_ranking_html, render_ranking_markdown
from assayer_client.comparisons import Comparison
from assayer_client.rankings import AcceptedRanking, Ranking, RankingLinks, RankingResource
from assayer_client.resources import Page, ResourceName
from orchestrator.api.job_routes import (
    JobRoutes,
    SubmissionDependency,
    build_report_response,
    describe_report_response,
    describe_submission_route,
    get_job_fields,
)
from orchestrator.api.url_queries import PageQuery, Reference
from orchestrator.jobs.models import BatchId, Job
from orchestrator.jobs.submissions import NewJob
from orchestrator.services.job_lookup import build_no_result_problem
from orchestrator.services.ranking_candidates import RankingBody, build_ranking_request, get_comparisons
from orchestrator.web.authentication import Reader
from orchestrator.web.content_negotiation import require_media_type
from orchestrator.web.pagination import build_page, decode_cursor
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services


class RankingsQuery(PageQuery):
    batch: ResourceName | None = None
    """Return only rankings with at least two ideas from this batch, regardless of who started them and how the ideas
    were submitted."""
    reference: Reference | None = None
    """Return only rankings that contain an idea with exactly this reference, which the sender assigned."""


router = APIRouter(prefix="/v1/rankings", tags=["rankings"])

_RENDERERS: dict[str, Callable[[Ranking, Sequence[Comparison]], str]] = {
    "application/json": lambda ranking, _: render_json(ranking),
    "text/markdown": render_ranking_markdown,
    "text/html": render_ranking_html,
    "text/csv": lambda ranking, _: render_csv(ranking),
}
_REPORT_RESPONSE = describe_report_response("The ranking, in the format preferred by `Accept`", tuple(_RENDERERS))
_JSON_LINES = "application/jsonl"
_COMPARISONS_RESPONSE = {
    "description": "One comparison per line; they can be reused by a later ranking or by `assayer rank --known`",
    "content": {_JSON_LINES: {"schema": {"type": "string"}}},
}


@router.post(**describe_submission_route(AcceptedRanking, RankingResource))
async def create_ranking(body: RankingBody, submission: SubmissionDependency) -> Response:
    """Rank ideas by comparing them in pairs."""
    services, context = submission.services, submission.context
    request, candidates = await build_ranking_request(
        body, context.tenant, services.jobs, services.rankings, services.options
    )
    job = submission.new_id("rk")
    links = build_ranking_links(job)
    receipt = AcceptedRanking(
        id=job,
        ideas=len(request.ideas),
        ideas_with_score=len(request.scores),
        known_comparisons=len(request.known),
        blind=request.blind,
        excluded_evaluations=tuple(candidates.excluded),
        unscored_ideas=tuple(candidates.unscored),
        links=links,
    )
    new_job = NewJob(
        id=job,
        request=request,
        subject=f"{len(request.ideas):,} proposals",
        priority=body.priority,
        required_evaluations=tuple(candidates.evaluations),
    )
    by = context.by._replace(call=None if body.batch is None else BatchId(body.batch))
    return await submission.respond(new_job, links.ranking, receipt, show_ranking, by)


@router.get("")
async def list_rankings(query: Annotated[RankingsQuery, Query()], context: Reader) -> Page[RankingResource]:
    """List the tenant's rankings, newest first, optionally only those that match `batch` or `reference`."""
    batch = None if query.batch is None else BatchId(query.batch)
    if batch is not None:
        await context.find_batch(batch)
    rankings = await context.services.rankings.list_rankings(
        context.tenant, batch=batch, reference=query.reference, after=decode_cursor(query.after), limit=query.limit + 1
    )
    return build_page(rankings, query.limit, build_ranking_resource)


@router.get("/{id}/report", response_class=Response, responses={200: _REPORT_RESPONSE})
async def get_ranking_report(id: PathId, context: Reader, accept: Annotated[str | None, Header()] = None) -> Response:
    """Return the ranking as JSON, Markdown, HTML or CSV. If the ranking has no result yet or has failed, the response
    is 409 and states the reason. If it has been deleted, the response is 410."""
    media_type = require_media_type(accept, tuple(_RENDERERS))
    job = await context.find_job(id, "ranking")
    ranking = await context.services.rankings.get_ranking(job.tenant, job.id)
    if ranking is None:
        raise build_no_result_problem(job)
    is_small = len(ranking.ideas) <= MAX_IDEAS
    comparisons = await context.services.rankings.list_comparisons(job.tenant, job.id) if is_small else ()
    text = await asyncio.to_thread(_RENDERERS[media_type], ranking, comparisons)
    return build_report_response(text, media_type, "report.css", "ranking.css")


@router.get("/{id}/comparisons", response_class=Response, responses={200: _COMPARISONS_RESPONSE})
async def list_ranking_comparisons(id: PathId, context: Reader) -> Response:
    """Return all comparisons on which the ranking is based, one per line, with the sender's references for the
    ideas."""
    job = await context.find_job(id, "ranking")
    comparisons = await get_comparisons(context.services.rankings, job)
    names = await context.services.rankings.get_references(job.tenant, job.id)
    text = await asyncio.to_thread(format_comparisons, comparisons, names)
    return Response(text, 200, {"Cache-Control": "private, no-cache"}, _JSON_LINES)


def build_ranking_links(job: str) -> RankingLinks:
    path = f"/v1/rankings/{job}"
    return RankingLinks(
        ranking=path, report=f"{path}/report", comparisons=f"{path}/comparisons", events=f"{path}/events"
    )


def build_ranking_resource(job: Job) -> RankingResource:
    return RankingResource(**get_job_fields(job), links=build_ranking_links(job.id))


async def show_ranking(_: Services, job: Job) -> RankingResource:
    return build_ranking_resource(job)


_ROUTES = JobRoutes(router, "ranking", RankingResource, build_ranking_resource, show_ranking)
_ROUTES.add_get_route("Return a ranking in its current state.")
_ROUTES.add_cancel_route()
