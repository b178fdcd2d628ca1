"""`/v1/batches`: the progress of batches, and their evaluations."""

import datetime as dt
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from assayer.errors import StorageError
from assayer.models.base import Dollars
from orchestrator.api.acting import acting, actor_of
from orchestrator.api.authentication import Reader, Submitter
from orchestrator.api.common_schemas import Body, Page, PageQuery, Reference, Resource, RowError
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.event_streams import count_as_stream, wait_for_change
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import act_by
from orchestrator.api.openapi import event_stream_response, problem_responses
from orchestrator.api.pagination import decode_cursor, page_of
from orchestrator.api.problems import not_there
from orchestrator.api.routes.evaluations import Evaluation, evaluation_resources
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId, JobState, TenantId
from orchestrator.jobs.outcome_wording import EvaluationOutcome
from orchestrator.jobs.submissions import BatchStatus, count_ended, count_unfinished, ideas_per_hour

__all__ = [
    "BatchEvaluationsQuery",
    "BatchLinks",
    "BatchPatch",
    "BatchResource",
    "BatchSummary",
    "BatchesQuery",
    "RetriedBatch",
    "batch_links",
    "batch_path",
    "batch_resource",
    "batch_summary",
    "router",
]


class BatchesQuery(PageQuery):
    tag: str | None = Field(default=None, min_length=1, max_length=100)
    """Only those that carry it."""


class BatchPatch(Body):
    """What of a batch is to change; what is left out stays."""

    name: str = Field(default="", max_length=200)
    tags: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=20)
    opinions_due: dt.date | None = None
    """The last day for its reviewers; null for none."""


class BatchEvaluationsQuery(PageQuery):
    state: JobState | None = None
    reference: Reference | None = None
    """The sender's own name alone, to the letter."""


class BatchLinks(Resource):
    """Paths of a batch and what belongs to it."""

    batch: str
    rows: str
    """Where further parts are sent."""
    evaluations: str
    events: str
    results: str


class BatchSummary(Resource):
    id: str
    name: str
    rows: int
    """Of the input."""
    rejected: int
    """Rows that hold no usable idea."""
    open: bool
    """More rows will follow."""
    tags: tuple[str, ...]
    opinions_due: dt.date | None
    """The last day for its reviewers."""
    states: dict[JobState, int]
    """Evaluations in each state; states without one are missing."""
    erased: int
    """Rows that were deleted: by request, or when their time of retention was over."""
    cost_usd: Dollars | None
    """Of the evaluations that have ended; null where that of one of them is not known."""
    known_cost_usd: Dollars
    """Of those whose cost is known."""
    ideas_per_hour: float | None
    """Evaluations that came to a report, per hour since the batch was accepted; null while the batch is under way and
    has fewer than five of them."""
    finish_expected_at: dt.datetime | None
    """At that rate; null while there is none, and when all have ended."""
    created_at: dt.datetime
    finished_at: dt.datetime | None
    """When the last evaluation ended; null before."""
    links: BatchLinks


class BatchResource(BatchSummary):
    rejected_rows: tuple[RowError, ...]
    waiting: str | None = None
    """Why the first of its queued evaluations does not run yet; null when none is queued."""
    outcomes: dict[EvaluationOutcome, int] | None = None
    """What its evaluations came to: scored in full, in part, not at all (`unscored`), …; outcomes without any are
    missing. Null before all have ended."""
    poorly_covered: int | None = None
    """Of its proposals, those whose field the corpus covers poorly. Null before all have ended."""


class RetriedBatch(Resource):
    """What came of running a batch's rows without a result again."""

    retried: int
    """Evaluations that wait again."""
    unreadable: int
    """Those that stay as they are, since their document is kept no longer: submit them again."""
    batch: BatchSummary


router = APIRouter(prefix="/v1/batches", tags=["batches"])

_LOG = logging.getLogger(__name__)
_LEAST_DONE = 5
"""Evaluations from which a pace is concluded."""
_STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: event_stream_response(
        "Server-sent events: `progress`, at most one a second, and finally `finished`; their `data` is a BatchSummary",
        BatchSummary,
    ),
    204: {"description": "It has finished, and the client has received that: an EventSource does not reconnect"},
}
_LAST = "Id of the last event that was received"


@router.get("", responses=problem_responses(422))
async def listed(
    query: Annotated[BatchesQuery, Query()], caller: Reader, services: ServicesDependency
) -> Page[BatchSummary]:
    """One's own batches, the newest first."""
    found = await services.jobs.batches(
        caller.tenant, after=decode_cursor(query.after), limit=query.limit + 1, tag=query.tag
    )
    now = services.clock.now()
    return page_of(found, query.limit, lambda batch: batch_summary(batch, now))


@router.get("/{id}", responses=problem_responses(404, 410, 422))
async def one(id: PathId, caller: Reader, services: ServicesDependency) -> BatchResource:
    """One batch: its progress, and the rows that hold no usable idea."""
    batch = await services.find_batch(caller.tenant, id)
    waiting = await services.jobs.batch_waiting_reason(caller.tenant, batch.id)
    more: dict[str, object] = {"waiting": waiting}
    # Counted when all have ended: whoever asks again and again while a batch runs makes nobody count its rows.
    if batch.finished_at is not None and await services.figures.fill(caller.tenant, batch.id):
        found = await services.tables.outcomes(caller.tenant, batch.id)
        more |= {"outcomes": found.counts, "poorly_covered": found.poorly_covered}
    return batch_resource(batch, services.clock.now()).model_copy(update=more)


@router.patch(
    "/{id}", responses=problem_responses(400, 404, 409, 410, 413, 415, 422), dependencies=[Depends(json_only)]
)
async def change(
    id: PathId,
    body: BatchPatch,
    caller: Annotated[AuthenticatedCaller, Depends(acting("run calls", scope="submit"))],
    services: ServicesDependency,
) -> BatchResource:
    """Changes its name, its tags, or until when opinions are due; refused once it is signed off."""
    details = body.model_dump(exclude_unset=True)
    if details and not await services.call_details.change(
        caller.tenant, BatchId(id), details, actor_of(caller), services.clock.now()
    ):
        raise not_there("batch", id)
    return batch_resource(await services.find_batch(caller.tenant, id), services.clock.now())


@router.delete("/{id}", responses=problem_responses(404, 409, 410, 422))
async def cancel(id: PathId, caller: Submitter, services: ServicesDependency) -> BatchResource:
    """Cancels the evaluations that have not ended: nothing more is spent on them. The others stay as they are.
    Refused once it is signed off."""
    batch = await services.find_batch(caller.tenant, id)
    await services.jobs.cancel_batch(caller.tenant, batch.id, act_by(services, caller))
    return batch_resource(await services.find_batch(caller.tenant, id), services.clock.now())


@router.post("/{id}/retry", status_code=202, responses=problem_responses(404, 409, 410, 422, 429))
async def retry(id: PathId, caller: Submitter, services: ServicesDependency) -> RetriedBatch:
    """Evaluates again its rows that failed, were given up or were cancelled: under the same ids, each within the same
    budget, without paying again for answers that are there. Refused once it is signed off."""
    batch = await services.find_batch(caller.tenant, id)
    retried = await services.jobs.retry_batch(caller.tenant, batch.id, act_by(services, caller))
    found = batch_summary(await services.find_batch(caller.tenant, id), services.clock.now())
    return RetriedBatch(retried=retried.jobs, unreadable=retried.unreadable, batch=found)


@router.get("/{id}/evaluations", responses=problem_responses(404, 410, 422))
async def evaluations(
    id: PathId, query: Annotated[BatchEvaluationsQuery, Query()], caller: Reader, services: ServicesDependency
) -> Page[Evaluation]:
    """Its evaluations, the last row first."""
    batch = await services.find_batch(caller.tenant, id)
    jobs = await services.jobs.list(
        caller.tenant,
        batch=batch.id,
        state=query.state,
        reference=query.reference,
        after=decode_cursor(query.after),
        limit=query.limit + 1,
    )
    return page_of(jobs, query.limit, await evaluation_resources(services, jobs))


@router.get(
    "/{id}/events",
    response_class=EventSourceResponse,
    responses={**_STREAM_RESPONSES, **problem_responses(404, 410, 422)},
    dependencies=[Depends(count_as_stream)],
)
async def stream(
    id: PathId,
    caller: Reader,
    services: ServicesDependency,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**31 - 1, description=_LAST)] = None,
) -> Response:
    """Its progress as an event stream, until it has finished."""
    batch = await services.find_batch(caller.tenant, id)
    if batch.finished_at is not None and last_event_id == count_ended(batch.counts):
        return Response(status_code=204)
    events = _progress_events(services, caller.tenant, batch.id)
    return EventSourceResponse(events, ping=services.settings.heartbeat_seconds, sep="\n")


async def _progress_events(services: Services, tenant: TenantId, batch: BatchId) -> AsyncIterator[ServerSentEvent]:
    """Ends when the batch has finished or is gone, when the database is lost, and after `stream_seconds`."""
    clock, settings = services.clock, services.settings
    end = clock.monotonic() + settings.stream_seconds
    before: BatchStatus | None = None
    try:
        async with services.listener.subscribe("assayer_jobs") as notifications:
            while clock.monotonic() < end:
                found = await services.jobs.batch(tenant, batch)
                if found is None:
                    return
                finished = found.finished_at is not None
                if found != before:
                    yield _server_sent_event(
                        batch_summary(found, clock.now()), "finished" if finished else "progress", found
                    )
                if finished:
                    return
                before = found
                await wait_for_change(notifications, clock, settings.poll_seconds)
    except StorageError as error:
        _LOG.warning("the event stream of %s ends early: %s", batch, error)


def _server_sent_event(summary: BatchSummary, kind: str, batch: BatchStatus) -> ServerSentEvent:
    return ServerSentEvent(summary.model_dump_json(), id=str(count_ended(batch.counts)), event=kind, sep="\n")


def batch_path(batch: str) -> str:
    return f"/v1/batches/{batch}"


def batch_links(batch: str) -> BatchLinks:
    own = batch_path(batch)
    return BatchLinks(
        batch=own,
        rows=f"{own}/rows",
        evaluations=f"{own}/evaluations",
        events=f"{own}/events",
        results=f"{own}/results",
    )


def batch_summary(batch: BatchStatus, now: dt.datetime) -> BatchSummary:
    finished = batch.finished_at
    speed = ideas_per_hour(batch.counts, batch.created_at, finished or now, 1 if finished else _LEAST_DONE)
    waiting = count_unfinished(batch.counts)
    return BatchSummary(
        id=batch.id,
        name=batch.name,
        rows=batch.rows,
        rejected=len(batch.rejected),
        open=batch.open,
        tags=batch.tags,
        opinions_due=batch.opinions_due,
        states=batch.counts,
        erased=batch.erased,
        cost_usd=batch.cost_usd,
        known_cost_usd=batch.known_cost_usd,
        ideas_per_hour=speed,
        finish_expected_at=now + dt.timedelta(hours=waiting / speed) if speed and waiting else None,
        created_at=batch.created_at,
        finished_at=batch.finished_at,
        links=batch_links(batch.id),
    )


def batch_resource(batch: BatchStatus, now: dt.datetime) -> BatchResource:
    rows = tuple(RowError(**row.model_dump()) for row in batch.rejected)
    return BatchResource(**dict(batch_summary(batch, now)), rejected_rows=rows)
