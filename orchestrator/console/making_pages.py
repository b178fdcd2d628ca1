"""`/console/proposals/{id}/making`: how a report was made, stage by stage and call by call, down to the messages."""

import json
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from assayer.models.timeline import Span
from assayer.ports import Activity
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.routes.model_calls import CallNumber, ModelCall, call_contents, calls_of, events_of
from orchestrator.api.services import ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import TERMINAL, Job
from orchestrator.jobs.pauses import Pause, pauses_of
from orchestrator.jobs.timeline import timeline_of

__all__ = ["router"]

router = APIRouter(prefix="/console/proposals/{id}/making", tags=["pages"], include_in_schema=False)

CallReader = Annotated[SignedIn, Depends(allowed_to("see calls"))]
_ACTIVITIES: dict[Activity, str] = {
    "place": "waiting for a free place in the process",
    "loading": "opening the corpus",
    "searching": "searching literature",
    "full_texts": "fetching full texts",
    "permits": "waiting until the language model may be asked",
}
_WIDTH = 100.0
_LEAST = 0.4


class _Bar(NamedTuple):
    x: float
    width: float


class _Stretch(NamedTuple):
    """Of a stage, or in the queue."""

    span: Span
    start: float
    """Seconds from the beginning."""
    seconds: float
    bar: _Bar


class _PauseLine(NamedTuple):
    """A stretch in which no language model was being asked."""

    pause: Pause
    start: float
    seconds: float
    bar: _Bar
    after: int | None
    """The number of the call that ended last before it; None: none had."""


class _CallLine(NamedTuple):
    call: ModelCall
    start: float
    bar: _Bar


@router.get("")
async def making(id: PathId, request: Request, who: CallReader, services: ServicesDependency) -> Response:
    job = await find_job(services, who.tenant, id, "evaluation")
    now = services.clock.now()
    events, rows = await events_of(services, job), await services.ledger.rows_of_job(job.id)
    timeline = timeline_of(job, events, [], now)
    whole = max((timeline.end - timeline.start).total_seconds(), 0.001)
    stretches = [_stretch(span, timeline.start.timestamp(), whole) for span in timeline.spans]
    lines = [_line(call, job, whole) for call, _ in await calls_of(services, job)]
    pauses = [_paused(one, timeline.start.timestamp(), whole, lines) for one in pauses_of(job, events, rows, now)]
    listed: list[_Stretch | _PauseLine] = [*stretches, *pauses]
    paid = [line.call for line in lines if not line.call.cached]
    return page_response(
        "making.html",
        request,
        who,
        job=job,
        whole=whole,
        stretches=sorted(listed, key=lambda one: one.start),
        activities=_ACTIVITIES,
        under_way=job.state not in TERMINAL,
        lines=lines,
        prompt_tokens=sum(call.prompt_tokens for call in paid),
        completion_tokens=sum(call.completion_tokens for call in paid),
        cost=None if any(_unpriced(call) for call in paid) else sum(call.cost_usd or 0.0 for call in paid),
        paid=len(paid),
    )


@router.get("/{number}")
async def one_call(
    id: PathId, number: CallNumber, request: Request, who: CallReader, services: ServicesDependency
) -> Response:
    job = await find_job(services, who.tenant, id, "evaluation")
    contents = await call_contents(services, job, number)
    last = len(await calls_of(services, job))
    answer = _indented(contents.answer) if isinstance(contents.answer, str) else None
    return page_response("call.html", request, who, job=job, contents=contents, answer=answer, last=last)


def _unpriced(call: ModelCall) -> bool:
    return call.cost_usd is None and call.prompt_tokens + call.completion_tokens > 0


def _stretch(span: Span, began: float, whole: float) -> _Stretch:
    start, seconds = span.start.timestamp() - began, (span.end - span.start).total_seconds()
    return _Stretch(span, start, seconds, _bar(start, seconds, whole))


def _paused(pause: Pause, began: float, whole: float, lines: Sequence[_CallLine]) -> _PauseLine:
    start, seconds = pause.start.timestamp() - began, (pause.end - pause.start).total_seconds()
    before = [line.call.number for line in lines if line.call.ended_at <= pause.start]
    return _PauseLine(pause, start, seconds, _bar(start, seconds, whole), max(before, default=None))


def _line(call: ModelCall, job: Job, whole: float) -> _CallLine:
    """The ledger records a call when it is over; one from the cache takes no time."""
    seconds = 0.0 if call.cached else call.seconds
    start = max(0.0, (call.ended_at - job.created_at).total_seconds() - seconds)
    return _CallLine(call, start, _bar(start, seconds, whole))


def _bar(start: float, seconds: float, whole: float) -> _Bar:
    width = max(_WIDTH * seconds / whole, _LEAST)
    return _Bar(round(min(_WIDTH * start / whole, _WIDTH - width), 2), round(width, 2))


def _indented(answer: str) -> str:
    try:
        return json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    except ValueError:
        return answer
