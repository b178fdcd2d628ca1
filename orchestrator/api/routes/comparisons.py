"""`/v1/comparisons`: which of two ideas is better, and why."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from orchestrator.api.accepting import Preference, accepted, awaited, cancelled
from orchestrator.api.asking import idea_of
from orchestrator.api.comparison_resources import (
    AcceptedComparison,
    ComparisonBody,
    ComparisonResource,
    comparison_of,
    comparison_path,
)
from orchestrator.api.documented import ACCEPTED, problems
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import found, page_of, place_of
from orchestrator.api.problems import Refusal
from orchestrator.api.resources import CancelQuery, Page, PageQuery
from orchestrator.api.security import Reader, Submitter, json_only
from orchestrator.api.services import Offered, OpenStreams, Services
from orchestrator.jobs.models import Job, JobId
from orchestrator.jobs.requests import ComparisonRequest
from orchestrator.jobs.results import ComparisonResult
from orchestrator.jobs.submissions import NewJob

__all__ = ["router"]

router = APIRouter(prefix="/v1/comparisons", tags=["comparisons"])


@router.post(
    "",
    status_code=202,
    response_model=AcceptedComparison,
    responses={
        200: {"model": ComparisonResource, "description": "It ended within the time that `Prefer` names"},
        **ACCEPTED,
        **problems(400, 413, 415, 422),
    },
    dependencies=[Depends(json_only)],
)
async def ask(
    body: ComparisonBody,
    request: Request,
    caller: Submitter,
    services: Offered,
    streams: OpenStreams,
    idempotency_key: IdempotencyKey = None,
    prefer: Preference = None,
) -> Response:
    """Asks which of two ideas is better."""
    first, second = idea_of(body.first, "first", "/first"), idea_of(body.second, "second", "/second")
    if first.id == second.id:
        raise Refusal.invalid("It has the same words as `first`: there is nothing to compare.", "/second")
    job = JobId(services.ids("cp"))
    work = ComparisonRequest(first=first, second=second, both_orders=body.both_orders, limits=body.limits)
    new = NewJob(id=job, work=work, subject=f"{first.title} / {second.title}", priority=body.priority)
    path = comparison_path(job)
    told = AcceptedComparison(id=job, link=path).model_dump_json().encode()
    answer = await accepted(request, caller, services, new, path, told, idempotency_key)

    async def shown(ended: Job) -> ComparisonResource:
        return await _shown(services, ended)

    return await awaited(answer, request, caller, services, streams, prefer, shown)


async def _shown(services: Services, job: Job) -> ComparisonResource:
    kept = await services.jobs.result(job.tenant, job.id) if job.state == "done" else None
    return comparison_of(job, None if kept is None else ComparisonResult.model_validate(kept))


@router.get("", responses=problems(422))
async def listed(query: Annotated[PageQuery, Query()], caller: Reader, services: Offered) -> Page[ComparisonResource]:
    """One's own comparisons, the newest first, without their results."""
    jobs = await services.jobs.list(
        caller.tenant, kind="comparison", after=place_of(query.after), limit=query.limit + 1
    )
    return page_of(jobs, query.limit, lambda job: comparison_of(job, None))


@router.get("/{id}", responses=problems(404, 422))
async def one(id: PathId, caller: Reader, services: Offered) -> ComparisonResource:
    """One comparison as it stands, with its result when it is done."""
    return await _shown(services, await found(services, caller.tenant, id, "comparison"))


@router.delete(
    "/{id}",
    response_model=ComparisonResource,
    responses={204: {"description": "With `erase=true`: it is deleted"}, **problems(404, 422)},
)
async def cancel(
    id: PathId, caller: Submitter, services: Offered, query: Annotated[CancelQuery, Query()]
) -> Response | ComparisonResource:
    """Cancels it: nothing more is spent on it. One that has ended stays as it is."""
    job = await cancelled(services, caller, id, "comparison", query)
    return Response(status_code=204) if job is None else await _shown(services, job)
