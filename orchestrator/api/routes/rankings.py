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
    job_fields,
    report_representations,
    report_response,
    submission_route,
)
from orchestrator.api.url_queries import PageQuery, Reference
from orchestrator.jobs.models import BatchId, Job
from orchestrator.jobs.submissions import NewJob
from orchestrator.services.job_lookup import no_result_problem
from orchestrator.services.ranking_candidates import RankingBody, comparisons_of, ranking_request
from orchestrator.web.authentication import Reader
from orchestrator.web.content_negotiation import negotiated_media_type
from orchestrator.web.pagination import decode_cursor, page_of
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
_REPORT = report_representations("The ranking, in the format preferred by `Accept`", tuple(_RENDERERS))
_JSON_LINES = "application/jsonl"
_COMPARISONS = {
    "description": "One comparison per line; they can be reused by a later ranking or by `assayer rank --known`",
    "content": {_JSON_LINES: {"schema": {"type": "string"}}},
}


@router.post(**submission_route(AcceptedRanking, RankingResource))
async def create_ranking(body: RankingBody, submission: SubmissionDependency) -> Response:
    """Rank ideas by comparing them in pairs."""
    services, context = submission.services, submission.context
    work, candidates = await ranking_request(body, context.tenant, services.jobs, services.rankings, services.options)
    job = submission.new_id("rk")
    links = ranking_links(job)
    answer_body = AcceptedRanking(
        id=job,
        ideas=len(work.ideas),
        ideas_with_score=len(work.scores),
        known_comparisons=len(work.known),
        blind=work.blind,
        excluded_evaluations=tuple(candidates.left_out),
        unscored_ideas=tuple(candidates.unscored),
        links=links,
    )
    new = NewJob(
        id=job,
        request=work,
        subject=f"{len(work.ideas):,} proposals",
        priority=body.priority,
        made_of=tuple(candidates.evaluations),
    )
    by = context.by._replace(call=None if body.batch is None else BatchId(body.batch))
    return await submission.answer(new, links.ranking, answer_body, show_ranking, by)


@router.get("")
async def list_rankings(query: Annotated[RankingsQuery, Query()], context: Reader) -> Page[RankingResource]:
    """List the tenant's rankings, newest first, optionally only those that match `batch` or `reference`."""
    batch = None if query.batch is None else BatchId(query.batch)
    if batch is not None:
        await context.find_batch(batch)
    rankings = await context.services.rankings.listed(
        context.tenant, batch=batch, reference=query.reference, after=decode_cursor(query.after), limit=query.limit + 1
    )
    return page_of(rankings, query.limit, ranking_resource)


@router.get("/{id}/report", response_class=Response, responses={200: _REPORT})
async def get_ranking_report(id: PathId, context: Reader, accept: Annotated[str | None, Header()] = None) -> Response:
    """Return the ranking as JSON, Markdown, HTML or CSV. If there is no ranking, the status is 409 with the reason, or
    410 if it has been deleted."""
    media_type = negotiated_media_type(accept, tuple(_RENDERERS))
    job = await context.find_job(id, "ranking")
    ranking = await context.services.rankings.whole(job.tenant, job.id)
    if ranking is None:
        raise no_result_problem(job)
    small = len(ranking.ideas) <= MAX_IDEAS
    comparisons = await context.services.rankings.comparisons(job.tenant, job.id) if small else ()
    text = await asyncio.to_thread(_RENDERERS[media_type], ranking, comparisons)
    return report_response(text, media_type, "report.css", "ranking.css")


@router.get("/{id}/comparisons", response_class=Response, responses={200: _COMPARISONS})
async def list_ranking_comparisons(id: PathId, context: Reader) -> Response:
    """Return all comparisons on which the ranking is based, one per line, with the sender's references for the
    ideas."""
    job = await context.find_job(id, "ranking")
    comparisons = await comparisons_of(context.services.rankings, job)
    names = await context.services.rankings.references(job.tenant, job.id)
    text = await asyncio.to_thread(format_comparisons, comparisons, names)
    return Response(text, 200, {"Cache-Control": "private, no-cache"}, _JSON_LINES)


def ranking_links(job: str) -> RankingLinks:
    path = f"/v1/rankings/{job}"
    return RankingLinks(
        ranking=path, report=f"{path}/report", comparisons=f"{path}/comparisons", events=f"{path}/events"
    )


def ranking_resource(job: Job) -> RankingResource:
    return RankingResource(**job_fields(job), links=ranking_links(job.id))


async def show_ranking(_: Services, job: Job) -> RankingResource:
    return ranking_resource(job)


_ROUTES = JobRoutes(router, "ranking", RankingResource, ranking_resource, show_ranking)
_ROUTES.add_one("Return a ranking in its current state.")
_ROUTES.add_cancel()
