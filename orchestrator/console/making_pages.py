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
from orchestrator.services.llm_requests import find_llm_requests, get_llm_request_contents
from orchestrator.web.path_parameters import EvaluationInPath, LlmRequestNumber

router = APIRouter(prefix="/console/proposals/{id}/making", tags=["pages"], include_in_schema=False)

_PLOT_WIDTH = 100.0
_MIN_BAR_WIDTH = 0.4


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


class _RequestLine(NamedTuple):
    request: LlmRequest
    start: float
    bar: _Bar


@router.get("")
async def show_making(context: CallReader, job: EvaluationInPath) -> Response:
    now = context.now
    events = await context.services.events.list_all(job.id)
    timeline = build_timeline(job, events, [], now)
    total_seconds = max((timeline.end - timeline.start).total_seconds(), 0.001)
    stage_lines = [_build_stage_line(span, timeline.start.timestamp(), total_seconds) for span in timeline.spans]
    request_lines = [
        _build_request_line(request, job, total_seconds)
        for request, _ in await find_llm_requests(context.services.ledger, job, events, now)
    ]
    paid_calls = [line.request for line in request_lines if not line.request.cached]
    return context.render_page(
        "making.html",
        job=job,
        total_seconds=total_seconds,
        stage_lines=sorted(stage_lines, key=lambda stage_line: stage_line.start),
        is_running=job.state not in TERMINAL,
        lines=request_lines,
        prompt_tokens=sum(request.prompt_tokens for request in paid_calls),
        cached_prompt_tokens=sum(request.cached_prompt_tokens for request in paid_calls),
        completion_tokens=sum(request.completion_tokens for request in paid_calls),
        cost=None
        if any(_has_unknown_price(request) for request in paid_calls)
        else sum(request.cost_usd or 0.0 for request in paid_calls),
        paid_requests=len(paid_calls),
    )


@router.get("/{number}")
async def show_llm_request(number: LlmRequestNumber, context: CallReader, job: EvaluationInPath) -> Response:
    requests = await find_llm_requests(
        context.services.ledger, job, await context.services.events.list_all(job.id), context.now
    )
    contents = await get_llm_request_contents(context.services.call_contents, job, requests, number)
    answer = _indent_json(contents.answer) if isinstance(contents.answer, str) else None
    return context.render_page("call.html", job=job, contents=contents, answer=answer, last=len(requests))


def _has_unknown_price(request: LlmRequest) -> bool:
    return request.cost_usd is None and request.prompt_tokens + request.completion_tokens > 0


def _build_stage_line(span: Span, timeline_start: float, total_seconds: float) -> _StageLine:
    start, seconds = span.start.timestamp() - timeline_start, (span.end - span.start).total_seconds()
    return _StageLine(span, start, seconds, _build_bar(start, seconds, total_seconds))


def _build_request_line(request: LlmRequest, job: Job, total_seconds: float) -> _RequestLine:
    """Return the line for a model request. Its start is computed from its end, which the ledger records. A request
    answered from the cache takes no time."""
    seconds = 0.0 if request.cached else request.seconds
    start = max(0.0, (request.ended_at - job.created_at).total_seconds() - seconds)
    return _RequestLine(request, start, _build_bar(start, seconds, total_seconds))


def _build_bar(start: float, seconds: float, total_seconds: float) -> _Bar:
    width = max(_PLOT_WIDTH * seconds / total_seconds, _MIN_BAR_WIDTH)
    return _Bar(round(min(_PLOT_WIDTH * start / total_seconds, _PLOT_WIDTH - width), 2), round(width, 2))


def _indent_json(answer: str) -> str:
    try:
        return json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    except ValueError:
        return answer
