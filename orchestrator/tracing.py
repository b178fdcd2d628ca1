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
from orchestrator.jobs.timeline import ledger_rows_of_job, timeline_of
from orchestrator.store.finished_jobs import SETTLING_TIME, FinishedJob, PgFinishedJobs

Attributes: TypeAlias = Mapping[str, str | int | float]

_LOG = logging.getLogger(__name__)
_JOBS_AT_ONCE = 20
_SPANS_AT_ONCE = 512
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


def trace_of(ended: FinishedJob) -> Trace:
    job, end = ended.job, ended.job.finished_at or ended.job.created_at
    timeline = timeline_of(job, ended.events, (), end)
    calls = [_call_span(row) for row in ledger_rows_of_job(job, ended.events, ended.ledger_rows, end + SETTLING_TIME)]
    steps = [_step_span(span) for span in timeline.spans]
    return Trace(ended.traceparent, _job_span(job, end), (*steps, *calls))


def _job_span(job: Job, end: dt.datetime) -> FinishedSpan:
    known = {
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
    attributes = {name: value for name, value in known.items() if value is not None}
    return FinishedSpan(job.kind, job.created_at, end, attributes, job.problem.type if job.problem else None)


def _step_span(span: Span) -> FinishedSpan:
    error = None if span.kind == "wait" or span.outcome == "succeeded" else "unfinished"
    return FinishedSpan(span.name, span.start, span.end, {"assayer.step.kind": span.kind}, error)


def _call_span(row: LedgerRow) -> FinishedSpan:
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
    return FinishedSpan(name, start, row.at, attributes, _fault_kind(row), is_call=True)


def _fault_kind(row: LedgerRow) -> str | None:
    if row.outcome == "answered":
        return None
    return row.record.faults[-1].kind if row.record.faults else "_OTHER"


class TraceExporter:
    """Exports traces. The sampler, limits and resource names are set by OpenTelemetry's environment variables."""

    def __init__(self, archive: PgFinishedJobs, exporter: SpanExporter) -> None:
        own = Resource({"service.name": "assayer", "service.version": __version__})
        provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
        self._tracer = provider.get_tracer("assayer", __version__)
        self._archive = archive
        self._exporter = exporter

    async def send(self) -> None:
        """Export traces for newly finished jobs. Stop if a trace is lost. Raises StorageError if the database fails."""
        while ended := await self._archive.claim(_JOBS_AT_ONCE):
            lost = await asyncio.to_thread(self._export, ended)
            if lost:
                _LOG.warning("the trace collector rejected some spans; %d jobs have no complete trace", lost)
            if lost or len(ended) < _JOBS_AT_ONCE:
                return

    def _export(self, ended: Sequence[FinishedJob]) -> int:
        """Export the jobs' traces, and return the number of jobs whose trace was lost. After a failed request, the
        remaining jobs are not exported."""
        for number, item in enumerate(ended):
            spans = _otel_spans(self._tracer, trace_of(item))
            for first in range(0, len(spans), _SPANS_AT_ONCE):
                if self._exporter.export(spans[first : first + _SPANS_AT_ONCE]) is not SpanExportResult.SUCCESS:
                    return len(ended) - number
        return 0


def _otel_spans(tracer: Tracer, trace: Trace) -> list[ReadableSpan]:
    """Return a trace's spans; empty if the sampler or the caller's `traceparent` excludes the trace."""
    carrier = {} if trace.traceparent is None else {"traceparent": trace.traceparent}
    job_span, context = _otel_span(tracer, trace.job, _PROPAGATOR.extract(carrier, Context()))
    spans = [job_span, *(_otel_span(tracer, step, context)[0] for step in trace.steps)]
    return [span for span in spans if isinstance(span, ReadableSpan)]


def _otel_span(tracer: Tracer, finished: FinishedSpan, context: Context) -> tuple[object, Context]:
    kind = SpanKind.CLIENT if finished.is_call else SpanKind.INTERNAL
    span = tracer.start_span(finished.name, context, kind, finished.attributes, start_time=_nanoseconds(finished.start))
    if finished.error is not None:
        span.set_attribute("error.type", finished.error)
        span.set_status(Status(StatusCode.ERROR))
    span.end(_nanoseconds(finished.end))
    return span, set_span_in_context(span, context)


def _nanoseconds(at: dt.datetime) -> int:
    return round(at.timestamp() * 1e6) * 1_000
