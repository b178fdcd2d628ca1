"""Prometheus metrics of this process, and traces for an OpenTelemetry collector."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import start_http_server

from assayer.errors import ConfigurationError
from cluster.settings import MetricsSettings
from orchestrator.execution.chores import Chore
from orchestrator.store import Database
from orchestrator.store.finished_jobs import PgFinishedJobs

_LOOPBACK = "127.0.0.1"


@contextmanager
def serve_metrics(settings: MetricsSettings) -> Iterator[None]:
    """Serve metrics at `http://127.0.0.1:PORT/metrics` while the context is open. Raises ConfigurationError if the port
    is not available."""
    if settings.port is None:
        yield
        return
    try:
        server, thread = start_http_server(settings.port, _LOOPBACK)
    except OSError as error:
        raise ConfigurationError(
            f"Metrics cannot be served on port {settings.port}: {error.strerror or error}.",
            "Set ASSAYER_METRICS__PORT to a free port, or unset it.",
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_LOG = logging.getLogger(__name__)
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_SECONDS = 2.0
"""Seconds between two checks for jobs that have ended."""


@contextmanager
def open_trace_export(database: Database) -> Iterator[tuple[Chore, ...]]:
    """Yield the background chores that export traces; none if traces are not exported."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        yield ()
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        from orchestrator.tracing import TraceExporter
    except ImportError as error:
        _LOG.warning("no traces are exported: %s. Run: pip install 'assayer-research[otel]'", error)
        yield ()
        return
    exporter = OTLPSpanExporter()
    try:
        yield (Chore("export traces", _SECONDS, TraceExporter(PgFinishedJobs(database), exporter).export_new_traces),)
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]
