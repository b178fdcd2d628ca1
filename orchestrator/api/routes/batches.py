"""`/v1/batches`: many ideas in one request, their progress, their results in one file."""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response, StreamingResponse
from sse_starlette import EventSourceResponse, ServerSentEvent

from assayer.errors import StorageError
from orchestrator.api.batch_resources import (
    BatchEvaluationsQuery,
    BatchResource,
    BatchSummary,
    ResultsQuery,
    batch_of,
    summary_of,
)
from orchestrator.api.documented import event_stream, problems
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import evaluation_of, missing, page_of, place_of
from orchestrator.api.representations import representation
from orchestrator.api.resources import Evaluation, Page, PageQuery
from orchestrator.api.security import Reader, Submitter
from orchestrator.api.services import Offered, Services
from orchestrator.api.streaming import held_open, settled
from orchestrator.batches.progress import ended
from orchestrator.batches.results import as_csv, as_line, as_parquet, every_row, flat
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.jobs.submissions import Batch

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
_RESULTS = {
    "description": "One line a row, in their order; those without a report, refused ones among them, say why",
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


@router.get("", responses=problems(422))
async def listed(query: Annotated[PageQuery, Query()], caller: Reader, services: Offered) -> Page[BatchSummary]:
    """One's own batches, the newest first."""
    found = await services.jobs.batches(caller.tenant, after=place_of(query.after), limit=query.limit + 1)
    now = services.clock.now()
    return page_of(found, query.limit, lambda batch: summary_of(batch, now))


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
    return page_of(jobs, query.limit, evaluation_of)


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
    media = _FORMATS[query.format] if query.format else representation(accept, tuple(_NAMES))
    written = _NAMES[media]
    batch = await _found(services, caller.tenant, id)
    headers = {
        "Vary": "Accept",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'attachment; filename="{batch.id}.{written}"',
    }
    if written == "jsonl":
        return StreamingResponse(_lines(services, caller.tenant, batch), 200, headers, media)
    told = services.jobs.reports(caller.tenant, batch.id)
    rows = [flat(row) async for row in every_row(told, batch.rejected)]
    render = partial(as_csv, rows) if written == "csv" else partial(as_parquet, rows)
    return Response(await asyncio.to_thread(render), 200, headers, _FORMATS[written])


async def _lines(services: Services, tenant: TenantId, batch: Batch) -> AsyncIterator[bytes]:
    async for row in every_row(services.jobs.reports(tenant, batch.id), batch.rejected):
        yield as_line(row)
