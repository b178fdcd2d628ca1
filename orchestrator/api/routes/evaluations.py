"""`/v1/evaluations`: ask for one, list one's own, read the report, cancel."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response

from assayer.reports.html import as_html
from assayer.reports.markdown import as_markdown
from assayer.reports.schema import as_json
from orchestrator.api.accepting import Preference, accepted, awaited, cancelled
from orchestrator.api.asking import request_of
from orchestrator.api.documented import ACCEPTED, problems
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import evaluation_of, found, page_of, place_of, without_result
from orchestrator.api.representations import page_headers, representation
from orchestrator.api.resources import (
    Accepted,
    CancelQuery,
    Evaluation,
    EvaluationBody,
    EvaluationQuery,
    Page,
    links_of,
)
from orchestrator.api.security import Reader, Submitter, json_only
from orchestrator.api.services import Offered, OpenStreams
from orchestrator.jobs.models import BatchId, Job, JobId
from orchestrator.jobs.submissions import NewJob

__all__ = ["router"]

router = APIRouter(prefix="/v1/evaluations", tags=["evaluations"])

_JSON = "application/json"
_RENDERED = {_JSON: as_json, "text/markdown": as_markdown, "text/html": as_html}
_REPORT = {
    "description": "The report, in the form that `Accept` prefers",
    "content": {media: {"schema": {"type": "object" if media == _JSON else "string"}} for media in _RENDERED},
}


@router.post(
    "",
    status_code=202,
    response_model=Accepted,
    responses={
        200: {"model": Evaluation, "description": "It ended within the time that `Prefer` names"},
        **ACCEPTED,
        **problems(400, 413, 415, 422),
    },
    dependencies=[Depends(json_only)],
)
async def ask(
    body: EvaluationBody,
    request: Request,
    caller: Submitter,
    services: Offered,
    streams: OpenStreams,
    idempotency_key: IdempotencyKey = None,
    prefer: Preference = None,
) -> Response:
    """Asks for an evaluation of one idea."""
    work = request_of(body, services.methods)
    job = JobId(services.ids("ev"))
    links = links_of(job)
    told = Accepted(id=job, links=links).model_dump_json().encode()
    new = NewJob(id=job, work=work, subject=work.idea.title if work.idea else work.source, priority=body.priority)
    answer = await accepted(request, caller, services, new, links.evaluation, told, idempotency_key)

    async def shown(ended: Job) -> Evaluation:
        return evaluation_of(ended)

    return await awaited(answer, request, caller, services, streams, prefer, shown)


@router.get("", responses=problems(422))
async def listed(query: Annotated[EvaluationQuery, Query()], caller: Reader, services: Offered) -> Page[Evaluation]:
    """One's own evaluations, the newest first."""
    jobs = await services.jobs.list(
        caller.tenant,
        kind="evaluation",
        state=query.state,
        batch=None if query.batch is None else BatchId(query.batch),
        after=place_of(query.after),
        limit=query.limit + 1,
    )
    return page_of(jobs, query.limit, evaluation_of)


@router.get("/{id}", responses=problems(404))
async def one(id: PathId, caller: Reader, services: Offered) -> Evaluation:
    """One evaluation as it stands."""
    job = await found(services, caller.tenant, id, "evaluation")
    waiting = await services.jobs.waiting(caller.tenant, job.id) if job.state == "queued" else None
    return evaluation_of(job).model_copy(update={"waiting": waiting})


@router.delete(
    "/{id}",
    response_model=Evaluation,
    responses={204: {"description": "With `erase=true`: it is deleted"}, **problems(404, 422)},
)
async def cancel(
    id: PathId, caller: Submitter, services: Offered, query: Annotated[CancelQuery, Query()]
) -> Response | Evaluation:
    """Cancels it: nothing more is spent on it. One that has ended stays as it is."""
    job = await cancelled(services, caller, id, "evaluation", query)
    return Response(status_code=204) if job is None else evaluation_of(job)


@router.get("/{id}/report", response_class=Response, responses={200: _REPORT, **problems(404, 406, 409, 410)})
async def report(
    id: PathId, caller: Reader, services: Offered, accept: Annotated[str | None, Header()] = None
) -> Response:
    """The report as JSON, Markdown or a page. Without one: 409 and why, or 410 when it has been deleted."""
    media = representation(accept, tuple(_RENDERED))
    job = await found(services, caller.tenant, id, "evaluation")
    written = await services.jobs.report(caller.tenant, job.id) if job.state == "done" else None
    if written is None:
        raise without_result(job)
    headers = {"Vary": "Accept", "Cache-Control": "private, no-cache"}
    if media == "text/html":
        headers |= page_headers()
    return Response(_RENDERED[media](written), 200, headers, media)
