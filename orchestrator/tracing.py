"""OpenTelemetry traces for finished jobs, built from their events and the ledger, and exported over OTLP.

A trace has a span for the whole job, for each wait and stage, and for each language model request. Attributes follow
OpenTelemetry's conventions for generative AI where these apply, and are otherwise named `assayer.…`. Spans contain
neither the ideas' text nor error messages, which may quote ideas. Spans that the collector rejects are lost."""

import asyncio
import datetime as dt
import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from opentelemetry.context import Context
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from assayer.models import LedgerRow
from assayer.version import __version__
from assayer_client.reports import Span
from orchestrator.jobs.models import Job
from orchestrator.jobs.timeline import build_timeline, select_ledger_rows
from orchestrator.store.finished_jobs import SETTLING_TIME, FinishedJob, PgFinishedJobs

Attributes: TypeAlias = Mapping[str, str | int | float]

_LOG = logging.getLogger(__name__)
_MAX_JOBS_PER_CLAIM = 20
_MAX_SPANS_PER_REQUEST = 512
"""Maximum number of spans in one request to the collector."""
_PROPAGATOR = TraceContextTextMapPropagator()


class FinishedSpan(NamedTuple):
    name: str
    start: dt.datetime
    end: dt.datetime
    attributes: Attributes
    error: str | None = None
    """The error's kind (`error.type`), if the span failed."""
    is_call: bool = False
    """True if the span is a request to an external service."""


class Trace(NamedTuple):
    traceparent: str | None
    job: FinishedSpan
    steps: tuple[FinishedSpan, ...]


def build_trace(finished_job: FinishedJob) -> Trace:
    job, end = finished_job.job, finished_job.job.finished_at or finished_job.job.created_at
    timeline = build_timeline(job, finished_job.events, (), end)
    request_spans = [
        _build_request_span(row)
        for row in select_ledger_rows(job, finished_job.events, finished_job.ledger_rows, end + SETTLING_TIME)
    ]
    step_spans = [_build_step_span(span) for span in timeline.spans]
    return Trace(finished_job.traceparent, _build_job_span(job, end), (*step_spans, *request_spans))


def _build_job_span(job: Job, end: dt.datetime) -> FinishedSpan:
    optional_attributes = {
        "assayer.job.id": job.id,
        "assayer.job.state": job.state,
        "assayer.job.priority": job.priority,
        "assayer.job.attempts": job.attempt,
        "assayer.tenant.id": job.tenant,
        "assayer.run.id": job.run_id,
        "assayer.batch.id": job.batch,
        "assayer.batch.row": job.row,
        "assayer.cost_usd": job.cost_usd,
    }
    attributes = {name: value for name, value in optional_attributes.items() if value is not None}
    return FinishedSpan(job.kind, job.created_at, end, attributes, job.problem.type if job.problem else None)


def _build_step_span(span: Span) -> FinishedSpan:
    error = None if span.kind == "wait" or span.outcome == "succeeded" else "unfinished"
    return FinishedSpan(span.name, span.start, span.end, {"assayer.step.kind": span.kind}, error)


def _build_request_span(row: LedgerRow) -> FinishedSpan:
    """Return the span for a model request. It ends at the time of the ledger entry. A cached answer takes no time and
    no tokens."""
    record = row.record
    attributes: dict[str, str | int | float] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # by convention, the provider whose protocol is used
        "gen_ai.request.model": record.model,
        "assayer.task.name": record.task,
        "assayer.task.version": record.version,
        "assayer.call.cached": record.cached,
    }
    name = f"chat {record.model}"
    if record.cached:
        return FinishedSpan(name, row.at, row.at, attributes)
    attributes |= {
        "gen_ai.usage.input_tokens": record.prompt_tokens,
        "gen_ai.usage.cache_read.input_tokens": record.cached_prompt_tokens,
        "gen_ai.usage.output_tokens": record.completion_tokens,
        "assayer.call.attempts": record.attempts,
    }
    if record.cost_usd is not None:
        attributes["assayer.cost_usd"] = record.cost_usd
    start = row.at - dt.timedelta(seconds=record.latency_seconds)
    return FinishedSpan(name, start, row.at, attributes, _get_error_kind(row), is_call=True)


def _get_error_kind(row: LedgerRow) -> str | None:
    if row.outcome == "answered":
        return None
    return row.record.faults[-1].kind if row.record.faults else "_OTHER"


class TraceExporter:
    """Exports traces. The sampler, limits and resource names are set by OpenTelemetry's environment variables."""

    def __init__(self, archive: PgFinishedJobs, exporter: SpanExporter) -> None:
        service_resource = Resource({"service.name": "assayer", "service.version": __version__})
        provider = TracerProvider(
            resource=service_resource.merge(OTELResourceDetector().detect()), shutdown_on_exit=False
        )
        self._tracer = provider.get_tracer("assayer", __version__)
        self._archive = archive
        self._exporter = exporter

    async def export_new_traces(self) -> None:
        """Export traces for newly finished jobs. Stop if a trace is lost. Raises StorageError if the database fails."""
        while finished_jobs := await self._archive.claim(_MAX_JOBS_PER_CLAIM):
            lost_count = await asyncio.to_thread(self._export, finished_jobs)
            if lost_count:
                _LOG.warning("the trace collector rejected some spans; %d jobs have no complete trace", lost_count)
            if lost_count or len(finished_jobs) < _MAX_JOBS_PER_CLAIM:
                return

    def _export(self, finished_jobs: Sequence[FinishedJob]) -> int:
        """Export the jobs' traces, and return the number of jobs whose trace was lost. After a failed request, the
        remaining jobs are not exported."""
        for number, finished_job in enumerate(finished_jobs):
            spans = _convert_trace(self._tracer, build_trace(finished_job))
            for start in range(0, len(spans), _MAX_SPANS_PER_REQUEST):
                if self._exporter.export(spans[start : start + _MAX_SPANS_PER_REQUEST]) is not SpanExportResult.SUCCESS:
                    return len(finished_jobs) - number
        return 0


def _convert_trace(tracer: Tracer, trace: Trace) -> list[ReadableSpan]:
    """Return a trace's spans; empty if the sampler or the caller's `traceparent` excludes the trace."""
    carrier = {} if trace.traceparent is None else {"traceparent": trace.traceparent}
    job_span, context = _convert_span(tracer, trace.job, _PROPAGATOR.extract(carrier, Context()))
    spans = [job_span, *(_convert_span(tracer, step, context)[0] for step in trace.steps)]
    return [span for span in spans if isinstance(span, ReadableSpan)]


def _convert_span(tracer: Tracer, finished_span: FinishedSpan, context: Context) -> tuple[object, Context]:
    kind = SpanKind.CLIENT if finished_span.is_call else SpanKind.INTERNAL
    span = tracer.start_span(
        finished_span.name, context, kind, finished_span.attributes, start_time=_to_nanoseconds(finished_span.start)
    )
    if finished_span.error is not None:
        span.set_attribute("error.type", finished_span.error)
        span.set_status(Status(StatusCode.ERROR))
    span.end(_to_nanoseconds(finished_span.end))
    return span, set_span_in_context(span, context)


def _to_nanoseconds(at: dt.datetime) -> int:
    return round(at.timestamp() * 1e6) * 1_000
