"""Sends traces of ended jobs to a collector, by OTLP over HTTP. What it does not take is lost, and nothing else is."""

import asyncio
import datetime as dt
import logging
from collections.abc import Sequence
from typing import Protocol

from opentelemetry.context import Context
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from assayer import __version__
from orchestrator.tracing.spans import Ended, FinishedSpan, Trace, trace_of

__all__ = ["Archive", "Traces"]

_LOG = logging.getLogger(__name__)
_JOBS_AT_ONCE = 20
_SPANS_AT_ONCE = 512
"""In one request to the collector."""
_PROPAGATOR = TraceContextTextMapPropagator()


class Archive(Protocol):
    async def claim(self, most: int) -> list[Ended]:
        """Jobs that ended lately and that nobody has claimed before. Raises StorageError."""
        ...


class Traces:
    """Sampler, limits and names of resources are those of OpenTelemetry's own environment variables."""

    def __init__(self, archive: Archive, exporter: SpanExporter) -> None:
        own = Resource({"service.name": "assayer", "service.version": __version__})
        provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
        self._tracer = provider.get_tracer("assayer", __version__)
        self._archive = archive
        self._exporter = exporter

    async def send(self) -> None:
        """All that there are, or until some are lost. Raises StorageError."""
        while ended := await self._archive.claim(_JOBS_AT_ONCE):
            lost = await asyncio.to_thread(self._sent, ended)
            if lost:
                _LOG.warning("the collector of traces took not all: %d jobs without a whole trace", lost)
            if lost or len(ended) < _JOBS_AT_ONCE:
                return

    def _sent(self, ended: Sequence[Ended]) -> int:
        """How many were lost. A collector that refuses one is not asked to take the others."""
        for number, one in enumerate(ended):
            spans = _recorded(self._tracer, trace_of(one))
            for first in range(0, len(spans), _SPANS_AT_ONCE):
                if self._exporter.export(spans[first : first + _SPANS_AT_ONCE]) is not SpanExportResult.SUCCESS:
                    return len(ended) - number
        return 0


def _recorded(tracer: Tracer, trace: Trace) -> list[ReadableSpan]:
    """Nothing where the sampler, or the caller by its `traceparent`, wants no trace."""
    carrier = {} if trace.traceparent is None else {"traceparent": trace.traceparent}
    whole, context = _span(tracer, trace.whole, _PROPAGATOR.extract(carrier, Context()))
    spans = [whole, *(_span(tracer, one, context)[0] for one in trace.within)]
    return [span for span in spans if isinstance(span, ReadableSpan)]


def _span(tracer: Tracer, told: FinishedSpan, context: Context) -> tuple[object, Context]:
    kind = SpanKind.CLIENT if told.is_call else SpanKind.INTERNAL
    span = tracer.start_span(told.name, context, kind, told.attributes, start_time=_nanoseconds(told.start))
    if told.error is not None:
        span.set_attribute("error.type", told.error)
        span.set_status(Status(StatusCode.ERROR))
    span.end(_nanoseconds(told.end))
    return span, set_span_in_context(span, context)


def _nanoseconds(at: dt.datetime) -> int:
    return round(at.timestamp() * 1e6) * 1_000
