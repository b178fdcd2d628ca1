"""`/v1/evaluations`: ask for one, list one's own, read the report, cancel."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response

from assayer.reports import as_html, as_json, as_markdown
from orchestrator.api.asking import request_of
from orchestrator.api.documented import REPLAYABLE, problems
from orchestrator.api.idempotency import IdempotencyKey, fingerprint, once, replayed
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import cursor_of, evaluation_of, found, missing, place_of, without_result
from orchestrator.api.observing import visit
from orchestrator.api.problems import Refusal
from orchestrator.api.representations import chosen, page_headers, seconds_to_wait
from orchestrator.api.resources import (
    Accepted,
    CancelQuery,
    Evaluation,
    EvaluationBody,
    EvaluationQuery,
    Page,
    links_of,
)
from orchestrator.api.security import Reader, Submitter, json_only, require
from orchestrator.api.services import Offered, OpenStreams
from orchestrator.api.waiting import verdict_within
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.jobs.submissions import Cursor, NewJob

__all__ = ["router"]

router = APIRouter(prefix="/v1/evaluations", tags=["evaluations"])

_JSON = "application/json"
_RENDERED = {_JSON: as_json, "text/markdown": as_markdown, "text/html": as_html}
_REPORT = {
    "description": "The report, in the form that `Accept` prefers",
    "content": {media: {"schema": {"type": "object" if media == _JSON else "string"}} for media in _RENDERED},
}
_WAIT = "`wait=N` (RFC 7240): answer with the evaluation itself if it ends within N seconds"


@router.post(
    "",
    status_code=202,
    response_model=Accepted,
    responses={
        200: {"model": Evaluation, "description": "It ended within the time that `Prefer` names"},
        202: {"description": "Accepted: it is stored, and will end in one verdict", "headers": REPLAYABLE},
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
    prefer: Annotated[list[str] | None, Header(description=_WAIT)] = None,
) -> Response:
    """Asks for an evaluation of one idea."""
    work = request_of(body, services.methods)
    job = JobId(services.ids("ev"))
    links = links_of(job)
    accepted = Accepted(id=job, links=links).model_dump_json().encode()
    new = NewJob(id=job, work=work, subject=work.idea.title if work.idea else work.source, priority=body.priority)
    keep = once(idempotency_key, fingerprint(request, await request.body()), 202, accepted, links.evaluation)
    replay = await services.jobs.add(caller.tenant, [new], once=keep)
    answer = Response(accepted, 202, {"Location": links.evaluation}, _JSON) if replay is None else replayed(replay)
    job = JobId(answer.headers["Location"].rpartition("/")[2])
    visit(request.scope).jobs.append(job)
    seconds = seconds_to_wait(prefer or (), services.settings.max_wait_seconds)
    if seconds is None or not streams.free(caller.key):
        return answer
    with streams.held(caller.key, request.scope):
        ended = await verdict_within(seconds, services, caller.tenant, job)
    answer.headers["Preference-Applied"] = f"wait={seconds:g}"
    if ended is None:
        return answer
    kept = {name: value for name, value in answer.headers.items() if name not in ("content-length", "content-type")}
    return Response(evaluation_of(ended).model_dump_json(), 200, kept, _JSON)


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
    page, more = jobs[: query.limit], len(jobs) > query.limit
    return Page(items=tuple(map(evaluation_of, page)), next=cursor_of(Cursor.of(page[-1])) if more else None)


@router.get("/{id}", responses=problems(404))
async def one(id: PathId, caller: Reader, services: Offered) -> Evaluation:
    """One evaluation as it stands."""
    return evaluation_of(await found(services, caller.tenant, id, "evaluation"))


@router.delete(
    "/{id}",
    response_model=Evaluation,
    responses={204: {"description": "With `erase=true`: it is deleted"}, **problems(404, 422)},
)
async def cancel(
    id: PathId, caller: Submitter, services: Offered, query: Annotated[CancelQuery, Query()]
) -> Response | Evaluation:
    """Cancels it: nothing more is spent on it. One that has ended stays as it is."""
    await found(services, caller.tenant, id, "evaluation")
    if query.erase:
        require(caller, "manage")
        await services.jobs.delete(caller.tenant, JobId(id))
        return Response(status_code=204)
    job = await services.jobs.cancel(caller.tenant, JobId(id))
    if job is None:
        raise missing("evaluation", id)
    return evaluation_of(job)


@router.get("/{id}/report", response_class=Response, responses={200: _REPORT, **problems(404, 406, 409, 410)})
async def report(
    id: PathId, caller: Reader, services: Offered, accept: Annotated[str | None, Header()] = None
) -> Response:
    """The report as JSON, Markdown or a page. Without one: 409 and why, or 410 when it has been deleted."""
    media = chosen(accept, tuple(_RENDERED))
    if media is None:
        raise Refusal("not-acceptable", f"There is none of {accept!r}; there are {', '.join(_RENDERED)}.")
    job = await found(services, caller.tenant, id, "evaluation")
    written = await services.jobs.report(caller.tenant, job.id) if job.state == "done" else None
    if written is None:
        raise without_result(job)
    headers = {"Vary": "Accept", "Cache-Control": "private, no-cache"}
    if media == "text/html":
        headers |= page_headers()
    return Response(_RENDERED[media](written), 200, headers, media)
