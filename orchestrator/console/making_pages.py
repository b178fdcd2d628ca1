"""Page `/console/proposals/{id}/making`: how a report was produced, by stage and by model request, including the
messages."""

import json
from typing import NamedTuple

from fastapi import APIRouter
from starlette.responses import Response

from assayer_client.llm_requests import LlmRequest
from assayer_client.reports import Span
from orchestrator.console.page_context import CallReader
from orchestrator.jobs.models import TERMINAL, Job
from orchestrator.jobs.timeline import build_timeline
from orchestrator.services.llm_requests import call_contents, calls_of
from orchestrator.web.path_parameters import CallNumber
from orchestrator.web.things_in_paths import EvaluationInPath

router = APIRouter(prefix="/console/proposals/{id}/making", tags=["pages"], include_in_schema=False)

_WIDTH = 100.0
_LEAST = 0.4


class _Bar(NamedTuple):
    x: float
    width: float


class _StageLine(NamedTuple):
    """The line for a stage, or for the time spent in the queue."""

    span: Span
    start: float
    """Seconds since the job was created."""
    seconds: float
    bar: _Bar


class _CallLine(NamedTuple):
    call: LlmRequest
    start: float
    bar: _Bar


@router.get("")
async def making(context: CallReader, job: EvaluationInPath) -> Response:
    now = context.now
    events = await context.services.events.list_all(job.id)
    timeline = build_timeline(job, events, [], now)
    total_seconds = max((timeline.end - timeline.start).total_seconds(), 0.001)
    stretches = [_stage_line(span, timeline.start.timestamp(), total_seconds) for span in timeline.spans]
    lines = [_line(call, job, total_seconds) for call, _ in await calls_of(context.services.ledger, job, events, now)]
    paid_calls = [line.call for line in lines if not line.call.cached]
    return context.page(
        "making.html",
        job=job,
        whole=total_seconds,
        stretches=sorted(stretches, key=lambda stretch: stretch.start),
        under_way=job.state not in TERMINAL,
        lines=lines,
        prompt_tokens=sum(call.prompt_tokens for call in paid_calls),
        cached_prompt_tokens=sum(call.cached_prompt_tokens for call in paid_calls),
        completion_tokens=sum(call.completion_tokens for call in paid_calls),
        cost=None
        if any(_has_unknown_price(call) for call in paid_calls)
        else sum(call.cost_usd or 0.0 for call in paid_calls),
        paid=len(paid_calls),
    )


@router.get("/{number}")
async def model_call(number: CallNumber, context: CallReader, job: EvaluationInPath) -> Response:
    calls = await calls_of(context.services.ledger, job, await context.services.events.list_all(job.id), context.now)
    contents = await call_contents(context.services.call_contents, job, calls, number)
    answer = _indent(contents.answer) if isinstance(contents.answer, str) else None
    return context.page("call.html", job=job, contents=contents, answer=answer, last=len(calls))


def _has_unknown_price(call: LlmRequest) -> bool:
    return call.cost_usd is None and call.prompt_tokens + call.completion_tokens > 0


def _stage_line(span: Span, began: float, total_seconds: float) -> _StageLine:
    start, seconds = span.start.timestamp() - began, (span.end - span.start).total_seconds()
    return _StageLine(span, start, seconds, _bar(start, seconds, total_seconds))


def _line(call: LlmRequest, job: Job, total_seconds: float) -> _CallLine:
    """Return the line for a model request. Its start is computed from its end, which the ledger records. A request
    answered from the cache takes no time."""
    seconds = 0.0 if call.cached else call.seconds
    start = max(0.0, (call.ended_at - job.created_at).total_seconds() - seconds)
    return _CallLine(call, start, _bar(start, seconds, total_seconds))


def _bar(start: float, seconds: float, total_seconds: float) -> _Bar:
    width = max(_WIDTH * seconds / total_seconds, _LEAST)
    return _Bar(round(min(_WIDTH * start / total_seconds, _WIDTH - width), 2), round(width, 2))


def _indent(answer: str) -> str:
    try:
        return json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    except ValueError:
        return answer
