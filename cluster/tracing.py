"""Traces for an OpenTelemetry collector: off, unless the standard variables name one."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.store import Database
from orchestrator.store.traces import PgTraces
from orchestrator.work.dispatcher import Chore

__all__ = ["tracing"]

_LOG = logging.getLogger(__name__)
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_SECONDS = 2.0
"""Between two looks for jobs that have ended."""


@contextmanager
def tracing(database: Database) -> Iterator[tuple[Chore, ...]]:
    """What the dispatcher has to do for it, if anything."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        yield ()
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        from orchestrator.tracing.exporting import Traces
    except ImportError as error:
        _LOG.warning("no traces are made: %s. Install them with: pip install 'assayer[otel]'", error)
        yield ()
        return
    exporter = OTLPSpanExporter()
    try:
        yield (Chore("tell the collector of traces", _SECONDS, Traces(PgTraces(database), exporter).send),)
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]
