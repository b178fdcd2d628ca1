"""Prometheus metrics of this process, for this machine only."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import start_http_server

from assayer.errors import ConfigurationError
from cluster.settings import MetricsSettings

__all__ = ["serving_metrics"]

_LOOPBACK = "127.0.0.1"


@contextmanager
def serving_metrics(settings: MetricsSettings) -> Iterator[None]:
    """While this is open, `http://127.0.0.1:PORT/metrics` tells what happened so far. Raises ConfigurationError."""
    if settings.port is None:
        yield
        return
    try:
        server, thread = start_http_server(settings.port, _LOOPBACK)
    except OSError as error:
        raise ConfigurationError(
            f"Metrics cannot be served at port {settings.port}: {error.strerror or error}.",
            "Set ASSAYER_METRICS__PORT to a free port, or leave it out.",
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
