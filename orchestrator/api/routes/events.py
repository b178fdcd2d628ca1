"""Routes for a job's events, as a stream, and for an evaluation's timeline."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from assayer.errors import StorageError
from assayer_client.reports import Timeline
from assayer_client.resources import Event
from orchestrator.api.event_streams import count_as_stream
from orchestrator.api.job_routes import get_path_segment, get_plural
from orchestrator.api.openapi import describe_event_stream
from orchestrator.jobs.models import TERMINAL, Job, JobKind
from orchestrator.jobs.timeline import build_timeline
from orchestrator.web.authentication import Reader
from orchestrator.web.path_parameters import EvaluationInPath, PathId
from orchestrator.web.services import Services

_LOG = logging.getLogger(__name__)

router = APIRouter()

_EVENTS_PER_PAGE = 200
"""Number of events read at a time."""
_STREAM_DESCRIPTION = (
    "Server-sent events: `id` is the number, `event` the kind, `data` an Event. The stream ends when the job ends"
)
_STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: describe_event_stream(_STREAM_DESCRIPTION, Event),
    204: {
        "description": "The job has ended and the client has received every event, so an EventSource does not reconnect"
    },
}
_LAST_EVENT_DESCRIPTION = "Number of the last event received; the stream continues after it"


def _build_stream_router(kind: JobKind) -> APIRouter:
    plural = get_plural(kind)
    stream_router = APIRouter(prefix=f"/v1/{get_path_segment(kind)}/{{id}}", tags=[plural])

    @stream_router.get(
        "/events",
        name=f"stream_{kind.removesuffix('s')}_events",
        response_class=EventSourceResponse,
        responses=_STREAM_RESPONSES,
        dependencies=[Depends(count_as_stream)],
    )
    async def stream(
        id: PathId,
        context: Reader,
        last_event_id: Annotated[int, Header(ge=0, le=2**31 - 1, description=_LAST_EVENT_DESCRIPTION)] = 0,
    ) -> Response:
        """Stream a job's events, beginning with the first or after the last event received."""
        job, services = await context.find_job(id, kind), context.services
        if job.state in TERMINAL and not await services.events.list_after(job.id, last_event_id, 1):
            return Response(status_code=204)
        events = _stream_job_events(services, job, last_event_id)
        return EventSourceResponse(events, ping=services.settings.heartbeat_seconds, sep="\n")

    return stream_router


async def _stream_job_events(services: Services, job: Job, last_number: int) -> AsyncIterator[ServerSentEvent]:
    """Yield a job's events until the job ends or is deleted, the database connection is lost, or `stream_seconds` have
    passed."""
    clock, settings = services.clock, services.settings
    deadline = clock.monotonic() + settings.stream_seconds
    try:
        async with services.listener.subscribe("assayer_events", only=job.id) as notifications:
            while clock.monotonic() < deadline:
                events = await services.events.list_after(job.id, last_number, _EVENTS_PER_PAGE)
                for item in events:
                    event = Event(number=item.number, kind=item.kind, at=item.at, data=item.data)
                    yield ServerSentEvent(event.model_dump_json(), id=str(item.number), event=item.kind, sep="\n")
                    last_number = item.number
                if events and events[-1].kind in TERMINAL:
                    return
                if not events and await services.jobs.get(job.tenant, job.id) is None:
                    return
                if len(events) < _EVENTS_PER_PAGE:
                    await notifications.next(settings.poll_seconds)
    except StorageError as error:
        _LOG.warning("the event stream of %s ended early: %s", job.id, error)


@router.get("/v1/evaluations/{id}/timeline", tags=["evaluations"])
async def get_timeline(context: Reader, job: EvaluationInPath) -> Timeline:
    """Return an evaluation's timeline: its time in the queue, the method's stages, and the language model requests."""
    return build_timeline(
        job,
        await context.services.events.list_all(job.id),
        await context.services.ledger.list_job_rows(job.id),
        context.now,
    )


_KINDS: tuple[JobKind, ...] = ("evaluation", "comparison", "ranking", "rewards", "curation", "candidate_ideas", "score")
for _kind in _KINDS:
    router.include_router(_build_stream_router(_kind))
