"""Routes `/v1/batches`: batches, their progress, and their evaluations."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from assayer.errors import StorageError
from assayer_client.batches import BatchPatch, BatchResource, BatchSummary, RetriedBatch
from assayer_client.calls import CallDetails
from assayer_client.evaluations import Evaluation
from assayer_client.resources import Page
from orchestrator.api.event_streams import count_as_stream, wait_for_change
from orchestrator.api.openapi import describe_event_stream
from orchestrator.api.permissions import CallManager, CallReader
from orchestrator.api.routes.evaluations import load_resource_builder
from orchestrator.api.url_queries import PageQuery, Reference
from orchestrator.jobs.models import BatchId, JobState, TenantId
from orchestrator.jobs.submissions import BatchStatus, count_ended
from orchestrator.problems import build_missing_problem
from orchestrator.services.batch_summaries import summarise_batch
from orchestrator.services.call_criteria import parse_criterion_bodies
from orchestrator.web.authentication import Reader, Submitter
from orchestrator.web.context import RouteContext
from orchestrator.web.pagination import build_page, decode_cursor
from orchestrator.web.path_parameters import CallInPath, PathId
from orchestrator.web.services import Services


class BatchesQuery(PageQuery):
    tag: str | None = Field(default=None, min_length=1, max_length=100)
    """Return only batches with this tag."""


class BatchEvaluationsQuery(PageQuery):
    state: JobState | None = None
    reference: Reference | None = None
    """Return only evaluations with exactly this reference, which the sender assigned."""


router = APIRouter(prefix="/v1/batches", tags=["batches"])

_LOG = logging.getLogger(__name__)
_STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: describe_event_stream(
        "Server-sent events: `progress` at most once a second, and finally `finished`; `data` is a BatchSummary",
        BatchSummary,
    ),
    204: {
        "description": "The batch has finished and the client has received every event, so an EventSource "
        "does not reconnect"
    },
}
_LAST_EVENT_DESCRIPTION = "Id of the last event received"


@router.get("")
async def list_batches(query: Annotated[BatchesQuery, Query()], context: Reader) -> Page[BatchSummary]:
    """List the tenant's batches, newest first."""
    batches = await context.services.jobs.list_batches(
        context.tenant, after=decode_cursor(query.after), limit=query.limit + 1, tag=query.tag
    )
    now = context.now
    return build_page(batches, query.limit, lambda batch: summarise_batch(batch, now))


@router.get("/{id}")
async def get_batch(context: Reader, batch: CallInPath) -> BatchResource:
    """Return a batch with its progress and the rows that contain no usable idea."""
    waiting_reason = await context.services.jobs.explain_batch_waiting(context.tenant, batch.id)
    extra_fields: dict[str, object] = {"waiting_reason": waiting_reason}
    # Counted only once all have ended, so that clients polling a running batch do not trigger a count each time.
    if batch.finished_at is not None:
        outcomes = await context.services.tables.count_outcomes(context.tenant, batch.id)
        extra_fields |= {"outcomes": outcomes.counts, "poorly_covered": outcomes.poorly_covered}
    return (await build_batch_resource(context, batch)).model_copy(update=extra_fields)


@router.patch("/{id}")
async def update_batch(id: PathId, body: BatchPatch, context: CallManager) -> BatchResource:
    """Change a batch's name, tags, due date for opinions, or its terms as a funding call. Rejected once the batch is
    signed off, and if the details have changed since the version stated in the body."""
    details = {name: getattr(body, name) for name in body.model_fields_set if name != "version"}
    if "terms" in details:
        parse_criterion_bodies(body.terms.criteria, "/terms/criteria")
    change = context.services.call_details.change
    if details and not await change(context.tenant, BatchId(id), details, context.by, body.version):
        raise build_missing_problem("batch", id)
    return await build_batch_resource(context, await context.find_batch(id))


@router.get("/{id}/terms")
async def get_call_terms(context: CallReader, batch: CallInPath) -> CallDetails:
    """Return a batch's terms as a funding call, with the version that a change must state."""
    return await context.services.call_details.get(context.tenant, batch.id)


@router.delete("/{id}")
async def cancel_batch(id: PathId, context: Submitter) -> BatchResource:
    """Cancel a batch's unfinished evaluations, so that nothing more is spent on them. Evaluations that have ended are
    unchanged. Rejected once the batch is signed off."""
    batch = await context.find_batch(id)
    await context.services.jobs.cancel_batch(context.tenant, batch.id, context.by)
    return await build_batch_resource(context, await context.find_batch(id))


@router.post("/{id}/retry", status_code=202)
async def retry_batch(id: PathId, context: Submitter) -> RetriedBatch:
    """Retry a batch's failed and cancelled rows. Each row keeps its id and its budget; model responses that are already
    stored are not paid for again. Rejected once the batch is signed off."""
    batch = await context.find_batch(id)
    retry_counts = await context.services.jobs.retry_batch(context.tenant, batch.id, context.by)
    summary = summarise_batch(await context.find_batch(id), context.now)
    return RetriedBatch(retried=retry_counts.jobs, unreadable=retry_counts.unreadable, batch=summary)


@router.get("/{id}/evaluations")
async def list_batch_evaluations(
    query: Annotated[BatchEvaluationsQuery, Query()], context: Reader, batch: CallInPath
) -> Page[Evaluation]:
    """List a batch's evaluations, last row first."""
    jobs = await context.services.jobs.list(
        context.tenant,
        batch=batch.id,
        state=query.state,
        reference=query.reference,
        after=decode_cursor(query.after),
        limit=query.limit + 1,
    )
    return build_page(jobs, query.limit, await load_resource_builder(context.services, jobs))


@router.get(
    "/{id}/events",
    response_class=EventSourceResponse,
    responses=_STREAM_RESPONSES,
    dependencies=[Depends(count_as_stream)],
)
async def stream_batch_events(
    context: Reader,
    batch: CallInPath,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**31 - 1, description=_LAST_EVENT_DESCRIPTION)] = None,
) -> Response:
    """Stream a batch's progress as events until it has finished."""
    if batch.finished_at is not None and last_event_id == count_ended(batch.counts):
        return Response(status_code=204)
    events = _stream_progress(context.services, context.tenant, batch.id)
    return EventSourceResponse(events, ping=context.services.settings.heartbeat_seconds, sep="\n")


async def _stream_progress(services: Services, tenant: TenantId, batch: BatchId) -> AsyncIterator[ServerSentEvent]:
    """Yield progress events until the batch finishes or is deleted, the database connection is lost, or
    `stream_seconds` have passed."""
    clock, settings = services.clock, services.settings
    deadline = clock.monotonic() + settings.stream_seconds
    previous_status: BatchStatus | None = None
    try:
        async with services.listener.subscribe("assayer_jobs") as notifications:
            while clock.monotonic() < deadline:
                status = await services.jobs.get_batch(tenant, batch)
                if status is None:
                    return
                is_finished = status.finished_at is not None
                if status != previous_status:
                    data = summarise_batch(status, clock.now()).model_dump_json()
                    kind, number = "finished" if is_finished else "progress", count_ended(status.counts)
                    yield ServerSentEvent(data, id=str(number), event=kind, sep="\n")
                if is_finished:
                    return
                previous_status = status
                await wait_for_change(notifications, clock, settings.poll_seconds)
    except StorageError as error:
        _LOG.warning("the event stream of %s ended early: %s", batch, error)


async def build_batch_resource(context: RouteContext, batch: BatchStatus) -> BatchResource:
    next_row = await context.services.jobs.get_next_row(context.tenant, batch.id)
    summary = summarise_batch(batch, context.now)
    return BatchResource(**dict(summary), rejected_rows=batch.rejected, next_row=next_row)
