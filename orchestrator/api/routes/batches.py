"""`/v1/batches`: many ideas in one request, their progress, their results in one file."""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response, StreamingResponse
from sse_starlette import EventSourceResponse, ServerSentEvent

from assayer.errors import InputError, StorageError
from orchestrator.api.batch_resources import (
    AcceptedBatch,
    BatchEvaluationsQuery,
    BatchQuery,
    BatchResource,
    BatchSummary,
    Duplicate,
    ResultsQuery,
    batch_links,
    batch_of,
    batch_path,
    summary_of,
)
from orchestrator.api.documented import REPLAYABLE, event_stream, problems
from orchestrator.api.idempotency import IdempotencyKey, fingerprint, once, replayed
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import cursor_of, evaluation_of, missing, place_of
from orchestrator.api.observing import visit
from orchestrator.api.problems import Refusal
from orchestrator.api.representations import chosen
from orchestrator.api.resources import Evaluation, Page, PageQuery, RowError
from orchestrator.api.security import Reader, Submitter
from orchestrator.api.services import LargeUploads, Offered, Services
from orchestrator.api.streaming import held_open, settled
from orchestrator.api.traced import traceparent_of
from orchestrator.api.validation import suggestion
from orchestrator.batches.intake import Intake, take_in
from orchestrator.batches.progress import ended
from orchestrator.batches.reading import MEDIA, read_rows
from orchestrator.batches.results import as_csv, as_line, as_parquet, flat
from orchestrator.batches.rows import AcceptedRow
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.jobs.requests import EvaluationRequest, Limits
from orchestrator.jobs.submissions import Batch, Cursor, NewBatch, NewJob

__all__ = ["router"]

router = APIRouter(prefix="/v1/batches", tags=["batches"])

_LOG = logging.getLogger(__name__)
_JSON = "application/json"
_FORM = "multipart/form-data"
_FORMATS = {"jsonl": "application/jsonl", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_NAMES = {
    **dict.fromkeys(("application/jsonl", "application/x-ndjson"), "jsonl"),
    "text/csv": "csv",
    "application/vnd.apache.parquet": "parquet",
}
"""Formats by the media types that ask for them."""
_ROWS: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A JSON record or a CSV row an idea: `title` and `text`, or its sections; or files in a form: "
        "PDF, text, Markdown, JSON, JSON lines, CSV. What cannot be read is told by row and costs no other row.",
        "content": {
            **{media: {"schema": {"type": "string"}} for media in MEDIA if media != _FORM},
            _FORM: {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            },
        },
    }
}
_RESULTS = {
    "description": "One line an evaluation, in the order of the rows; those without a report say why",
    "content": {
        media: {"schema": {"type": "string", **({"format": "binary"} if media == _FORMATS["parquet"] else {})}}
        for media in _NAMES
    },
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: event_stream(
        "Server-sent events: `progress`, at most one a second, and at last `finished`; their `data` is a BatchSummary",
        BatchSummary,
    ),
    204: {"description": "It has finished, and that was received: an EventSource does not reconnect"},
}
_LAST = "Id of the last event that was received"


@router.post(
    "",
    status_code=202,
    response_model=AcceptedBatch,
    openapi_extra=_ROWS,
    responses={
        202: {"description": "The good rows are stored; the others are named", "headers": REPLAYABLE},
        **problems(413, 415, 422),
    },
)
async def ask(
    request: Request,
    query: Annotated[BatchQuery, Query()],
    caller: Submitter,
    services: Offered,
    uploads: LargeUploads,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Asks for the evaluation of every row."""
    if query.method not in services.methods:
        known = suggestion(query.method, sorted(services.methods))
        raise Refusal.parameter("method", f"There is no method {query.method!r}.{known}")
    intake = await _taken_in(request, uploads, services)
    if not intake.accepted:
        raise _nothing_usable(intake)
    batch = BatchId(services.ids("bt"))
    accepted = _accepted(batch, query, intake).model_dump_json().encode()
    asked = fingerprint(request, intake.digest, query.model_dump_json())
    keep = once(idempotency_key, asked, 202, accepted, batch_path(batch))
    parent = traceparent_of(request)
    jobs = await asyncio.to_thread(lambda: [_job(row, query, services, parent) for row in intake.accepted])
    new = NewBatch(id=batch, name=query.name, rows=intake.rows, rejected=tuple(intake.rejected))
    replay = await services.jobs.add(caller.tenant, jobs, new, keep)
    answer = Response(accepted, 202, {"Location": batch_path(batch)}, _JSON) if replay is None else replayed(replay)
    visit(request.scope).jobs.append(answer.headers["Location"].rpartition("/")[2])
    return answer


async def _taken_in(request: Request, uploads: LargeUploads, services: Services) -> Intake:
    """Raises Refusal."""
    content_type = request.headers.get("content-type", "")
    media = content_type.partition(";")[0].strip().lower()
    if media not in MEDIA:
        raise Refusal(
            "unsupported-media-type", f"The body is {media or 'of no stated type'}; a batch is {', '.join(MEDIA)}."
        )
    limits, today = services.batches, services.clock.now().date()
    async with uploads.received(request) as file:
        rows = read_rows(file, MEDIA[media], content_type, limits, today)
        try:
            return await uploads.read(partial(take_in, rows))
        except InputError as error:
            raise Refusal.invalid(str(error), "") from None


def _nothing_usable(intake: Intake) -> Refusal:
    first = intake.rejected[0]
    more = f" So did {len(intake.rejected) - 1:,} more: `rows` says why." if len(intake.rejected) > 1 else ""
    rows = tuple(RowError(**row.model_dump()) for row in intake.rejected)
    return Refusal("invalid-request", f"No row gave an idea. {first.detail}{more}", rows=rows)


def _accepted(batch: BatchId, query: BatchQuery, intake: Intake) -> AcceptedBatch:
    return AcceptedBatch(
        id=batch,
        name=query.name,
        rows=intake.rows,
        accepted=len(intake.accepted),
        rejected=tuple(RowError(**row.model_dump()) for row in intake.rejected),
        duplicates=tuple(Duplicate(**one.model_dump()) for one in intake.duplicates),
        notices=tuple(intake.notices),
        links=batch_links(batch),
    )


def _job(row: AcceptedRow, query: BatchQuery, services: Services, traceparent: str | None) -> NewJob:
    idea = row.idea
    cutoff = idea.cutoff if idea is not None and idea.cutoff is not None else query.cutoff
    work = EvaluationRequest(
        idea=None if idea is None else idea.model_copy(update={"cutoff": cutoff}),
        source=row.source if idea is None else idea.source,
        method=query.method,
        cutoff=cutoff,
        limits=Limits(max_usd=query.max_usd, max_prompt_tokens=query.max_prompt_tokens),
    )
    return NewJob(
        id=JobId(services.ids("ev")),
        work=work,
        subject=row.source if idea is None else idea.title,
        priority=query.priority,
        document=row.document,
        row=row.number,
        traceparent=traceparent,
    )


@router.get("", responses=problems(422))
async def listed(query: Annotated[PageQuery, Query()], caller: Reader, services: Offered) -> Page[BatchSummary]:
    """One's own batches, the newest first."""
    found = await services.jobs.batches(caller.tenant, after=place_of(query.after), limit=query.limit + 1)
    page, more = found[: query.limit], len(found) > query.limit
    now = services.clock.now()
    items = tuple(summary_of(batch, now) for batch in page)
    return Page(items=items, next=cursor_of(Cursor.of(page[-1])) if more else None)


@router.get("/{id}", responses=problems(404, 422))
async def one(id: PathId, caller: Reader, services: Offered) -> BatchResource:
    """One batch: how far it has come, and which rows gave no idea."""
    return batch_of(await _found(services, caller.tenant, id), services.clock.now())


@router.delete("/{id}", responses=problems(404, 422))
async def cancel(id: PathId, caller: Submitter, services: Offered) -> BatchResource:
    """Cancels what has not ended: nothing more is spent on it. What has ended stays as it is."""
    batch = await _found(services, caller.tenant, id)
    await services.jobs.cancel_batch(caller.tenant, batch.id)
    return batch_of(await _found(services, caller.tenant, id), services.clock.now())


async def _found(services: Services, tenant: TenantId, batch: str) -> Batch:
    """Raises Refusal (404)."""
    found = await services.jobs.batch(tenant, BatchId(batch))
    if found is None:
        raise missing("batch", batch)
    return found


@router.get("/{id}/evaluations", responses=problems(404, 422))
async def evaluations(
    id: PathId, query: Annotated[BatchEvaluationsQuery, Query()], caller: Reader, services: Offered
) -> Page[Evaluation]:
    """Its evaluations, the last row first."""
    batch = await _found(services, caller.tenant, id)
    jobs = await services.jobs.list(
        caller.tenant, batch=batch.id, state=query.state, after=place_of(query.after), limit=query.limit + 1
    )
    page, more = jobs[: query.limit], len(jobs) > query.limit
    return Page(items=tuple(map(evaluation_of, page)), next=cursor_of(Cursor.of(page[-1])) if more else None)


@router.get(
    "/{id}/events",
    response_class=EventSourceResponse,
    responses={**_STREAM, **problems(404, 422)},
    dependencies=[Depends(held_open)],
)
async def stream(
    id: PathId,
    caller: Reader,
    services: Offered,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**31 - 1, description=_LAST)] = None,
) -> Response:
    """How far it has come, whenever that changes, until it has finished."""
    batch = await _found(services, caller.tenant, id)
    if batch.finished_at is not None and last_event_id == ended(batch.counts):
        return Response(status_code=204)
    told = _told(services, caller.tenant, batch.id)
    return EventSourceResponse(told, ping=services.settings.heartbeat_seconds, sep="\n")


async def _told(services: Services, tenant: TenantId, batch: BatchId) -> AsyncIterator[ServerSentEvent]:
    """Ends when the batch has finished or is gone, when the database goes, and after the time that a stream has."""
    clock, settings = services.clock, services.settings
    end = clock.monotonic() + settings.stream_seconds
    before: Batch | None = None
    try:
        async with services.listener.on("assayer_jobs") as heard:
            while clock.monotonic() < end:
                found = await services.jobs.batch(tenant, batch)
                if found is None:
                    return
                finished = found.finished_at is not None
                if found != before:
                    yield _sent(summary_of(found, clock.now()), "finished" if finished else "progress", found)
                if finished:
                    return
                before = found
                await settled(heard, clock, settings.poll_seconds)
    except StorageError as error:
        _LOG.warning("The events of %s break off: %s", batch, error)


def _sent(summary: BatchSummary, kind: str, batch: Batch) -> ServerSentEvent:
    return ServerSentEvent(summary.model_dump_json(), id=str(ended(batch.counts)), event=kind, sep="\n")


@router.get("/{id}/results", response_class=Response, responses={200: _RESULTS, **problems(404, 406, 422)})
async def results(
    id: PathId,
    query: Annotated[ResultsQuery, Query()],
    caller: Reader,
    services: Offered,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    """What its rows came to so far: whole reports as JSON lines, or a table as CSV or Parquet."""
    media = chosen(accept, tuple(_NAMES))
    if query.format is None and media is None:
        raise Refusal("not-acceptable", f"There is none of {accept!r}; there are {', '.join(_NAMES)}.")
    written = query.format or _NAMES[media or ""]
    batch = await _found(services, caller.tenant, id)
    headers = {
        "Vary": "Accept",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'attachment; filename="{batch.id}.{written}"',
    }
    if written == "jsonl":
        return StreamingResponse(_lines(services, caller.tenant, batch.id), 200, headers, media or _FORMATS[written])
    rows = [flat(row) async for row in services.jobs.reports(caller.tenant, batch.id)]
    render = partial(as_csv, rows) if written == "csv" else partial(as_parquet, rows)
    return Response(await asyncio.to_thread(render), 200, headers, _FORMATS[written])


async def _lines(services: Services, tenant: TenantId, batch: BatchId) -> AsyncIterator[bytes]:
    async for row in services.jobs.reports(tenant, batch):
        yield as_line(row)
