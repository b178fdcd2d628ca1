"""`/v1/rankings`: many ideas in one order, with how sure it is."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response

from assayer.ranking.handed_in import as_lines
from assayer.reports.ranking import as_csv, as_ranking_html, as_ranking_json, as_ranking_markdown
from orchestrator.api.accepting import accepted, cancelled
from orchestrator.api.documented import ACCEPTED, problems
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import found, page_of, place_of, without_result
from orchestrator.api.ranking_requests import ranking_request
from orchestrator.api.ranking_resources import (
    AcceptedRanking,
    RankingBody,
    RankingResource,
    ranking_links,
    ranking_of,
)
from orchestrator.api.representations import page_headers, representation
from orchestrator.api.resources import CancelQuery, Page, PageQuery
from orchestrator.api.security import Reader, Submitter, json_only
from orchestrator.api.services import Offered, Services
from orchestrator.jobs.models import Job, JobId
from orchestrator.jobs.results import RankingResult
from orchestrator.jobs.submissions import NewJob

__all__ = ["router"]

router = APIRouter(prefix="/v1/rankings", tags=["rankings"])

_JSON = "application/json"
_RENDERED: dict[str, Callable[[RankingResult], str]] = {
    _JSON: lambda result: as_ranking_json(result.ranking),
    "text/markdown": lambda result: as_ranking_markdown(result.ranking, result.comparisons),
    "text/html": lambda result: as_ranking_html(result.ranking, result.comparisons),
    "text/csv": lambda result: as_csv(result.ranking),
}
_REPORT = {
    "description": "The ranking, in the form that `Accept` prefers",
    "content": {media: {"schema": {"type": "object" if media == _JSON else "string"}} for media in _RENDERED},
}
_LINES = "application/jsonl"
_COMPARISONS = {
    "description": "A comparison a line: fit to be handed to a later ranking, or to `assayer rank --known`",
    "content": {_LINES: {"schema": {"type": "string"}}},
}
_PRIVATE = {"Cache-Control": "private, no-cache"}


@router.post(
    "",
    status_code=202,
    response_model=AcceptedRanking,
    responses={
        **ACCEPTED,
        **problems(400, 404, 409, 413, 415, 422),
    },
    dependencies=[Depends(json_only)],
)
async def ask(
    body: RankingBody,
    request: Request,
    caller: Submitter,
    services: Offered,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Asks for the order of ideas, by comparing them in pairs."""
    work, candidates = await ranking_request(body, services, caller.tenant)
    job = JobId(services.ids("rk"))
    links = ranking_links(job)
    told = AcceptedRanking(
        id=job,
        ideas=len(work.ideas),
        seeded=len(work.scores),
        known=len(work.known),
        left_out=tuple(candidates.left_out),
        links=links,
    )
    new = NewJob(id=job, work=work, subject=f"{len(work.ideas):,} ideas", priority=body.priority)
    content = told.model_dump_json().encode()
    return await accepted(request, caller, services, new, links.ranking, content, idempotency_key)


@router.get("", responses=problems(422))
async def listed(query: Annotated[PageQuery, Query()], caller: Reader, services: Offered) -> Page[RankingResource]:
    """One's own rankings, the newest first."""
    jobs = await services.jobs.list(caller.tenant, kind="ranking", after=place_of(query.after), limit=query.limit + 1)
    return page_of(jobs, query.limit, ranking_of)


@router.get("/{id}", responses=problems(404, 422))
async def one(id: PathId, caller: Reader, services: Offered) -> RankingResource:
    """One ranking as it stands."""
    return ranking_of(await found(services, caller.tenant, id, "ranking"))


@router.delete(
    "/{id}",
    response_model=RankingResource,
    responses={204: {"description": "With `erase=true`: it is deleted"}, **problems(404, 422)},
)
async def cancel(
    id: PathId, caller: Submitter, services: Offered, query: Annotated[CancelQuery, Query()]
) -> Response | RankingResource:
    """Cancels it: nothing more is spent on it. One that has ended stays as it is."""
    job = await cancelled(services, caller, id, "ranking", query)
    return Response(status_code=204) if job is None else ranking_of(job)


@router.get("/{id}/report", response_class=Response, responses={200: _REPORT, **problems(404, 406, 409, 410, 422)})
async def report(
    id: PathId, caller: Reader, services: Offered, accept: Annotated[str | None, Header()] = None
) -> Response:
    """The order as JSON, Markdown, a page or a table. Without one: 409 and why, or 410 when it has been deleted."""
    media = representation(accept, tuple(_RENDERED))
    job = await found(services, caller.tenant, id, "ranking")
    text = await _rendered(services, job, _RENDERED[media])
    page = page_headers("report.css", "ranking.css") if media == "text/html" else {}
    return Response(text, 200, {"Vary": "Accept", **_PRIVATE, **page}, media)


@router.get("/{id}/comparisons", response_class=Response, responses={200: _COMPARISONS, **problems(404, 409, 410, 422)})
async def comparisons(id: PathId, caller: Reader, services: Offered) -> Response:
    """All comparisons that the order rests on."""
    job = await found(services, caller.tenant, id, "ranking")
    text = await _rendered(services, job, lambda result: as_lines(result.comparisons))
    return Response(text, 200, _PRIVATE, _LINES)


async def _rendered(services: Services, job: Job, render: Callable[[RankingResult], str]) -> str:
    """In a thread, as rankings are large. Raises Refusal where there is none."""
    kept = await services.jobs.result(job.tenant, job.id) if job.state == "done" else None
    if kept is None:
        raise without_result(job)
    return await asyncio.to_thread(lambda: render(RankingResult.model_validate(kept)))
