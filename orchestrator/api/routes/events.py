"""What happens to a job: as a stream while it happens, and for evaluations as a timeline afterwards."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from assayer.errors import StorageError
from assayer.models.timeline import Timeline
from orchestrator.api.documented import event_stream, problems
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import found
from orchestrator.api.resources import Event
from orchestrator.api.security import Reader
from orchestrator.api.services import Offered, Services
from orchestrator.api.streaming import held_open
from orchestrator.jobs.events import JobEvent
from orchestrator.jobs.models import TERMINAL, Job, JobKind
from orchestrator.jobs.timeline import timeline_of

__all__ = ["router"]

_LOG = logging.getLogger(__name__)

router = APIRouter()

_PAGE = 200
"""Events read at once."""
_SENT = "Server-sent events: `id` is the number, `event` the kind, `data` an Event. The stream ends after the verdict"
_STREAM: dict[int | str, dict[str, Any]] = {
    200: event_stream(_SENT, Event),
    204: {"description": "It has ended and all of it was received: an EventSource does not reconnect"},
}
_LAST = "Number of the last event that was received; the stream goes on after it"


def _streamed(kind: JobKind) -> APIRouter:
    streams = APIRouter(prefix=f"/v1/{kind}s/{{id}}", tags=[f"{kind}s"])

    @streams.get(
        "/events",
        response_class=EventSourceResponse,
        responses={**_STREAM, **problems(404, 422)},
        dependencies=[Depends(held_open)],
    )
    async def stream(
        id: PathId,
        caller: Reader,
        services: Offered,
        last_event_id: Annotated[int, Header(ge=0, le=2**31 - 1, description=_LAST)] = 0,
    ) -> Response:
        """What happens to it, from the start or from where a reader left off."""
        job = await found(services, caller.tenant, id, kind)
        if job.state in TERMINAL and not await services.events.after(job.id, last_event_id, 1):
            return Response(status_code=204)
        told = _told(services, job, last_event_id)
        return EventSourceResponse(told, ping=services.settings.heartbeat_seconds, sep="\n")

    return streams


async def _told(services: Services, job: Job, last: int) -> AsyncIterator[ServerSentEvent]:
    """Ends after the verdict, when the job is deleted, when the database goes, and after the time that a stream has."""
    clock, settings = services.clock, services.settings
    end = clock.monotonic() + settings.stream_seconds
    try:
        async with services.listener.on("assayer_events", only=job.id) as heard:
            while clock.monotonic() < end:
                events = await services.events.after(job.id, last, _PAGE)
                for event in events:
                    yield _sent(event)
                    last = event.number
                if events and events[-1].kind in TERMINAL:
                    return
                if not events and await services.jobs.get(job.tenant, job.id) is None:
                    return
                if len(events) < _PAGE:
                    await heard.next(settings.poll_seconds)
    except StorageError as error:
        _LOG.warning("The events of %s break off: %s", job.id, error)


def _sent(event: JobEvent) -> ServerSentEvent:
    data = Event(number=event.number, kind=event.kind, at=event.at, data=event.data)
    return ServerSentEvent(data.model_dump_json(), id=str(event.number), event=event.kind, sep="\n")


@router.get("/v1/evaluations/{id}/timeline", responses=problems(404), tags=["evaluations"])
async def drawn(id: PathId, caller: Reader, services: Offered) -> Timeline:
    """What ran when: its time in the queue, the stages of its method, its calls to language models."""
    job = await found(services, caller.tenant, id, "evaluation")
    events: list[JobEvent] = []
    while page := await services.events.after(job.id, events[-1].number if events else 0, _PAGE):
        events += page
    rows = await services.ledger.rows(job.run_id) if job.run_id is not None else []
    return timeline_of(job, events, rows, services.clock.now())


_KINDS: tuple[JobKind, ...] = ("evaluation", "comparison", "ranking")
for _kind in _KINDS:
    router.include_router(_streamed(_kind))
