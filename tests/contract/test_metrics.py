"""Metrics of the program, over HTTP on this machine."""

import socket
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from assayer.errors import ConfigurationError
from cluster.settings import MetricsSettings
from cluster.telemetry import serve_metrics
from workers.outbound.metrics import REQUESTS


def _find_free_port() -> int:
    with socket.socket() as bound_socket:
        bound_socket.bind(("127.0.0.1", 0))
        port: int = bound_socket.getsockname()[1]
    return port


def test_source_metrics_are_served_only_while_the_program_runs() -> None:
    port = _find_free_port()
    REQUESTS.labels("source", "a_source_of_this_test", "200").inc(3)
    with serve_metrics(MetricsSettings(port=port)), urlopen(f"http://127.0.0.1:{port}/metrics") as page:
        assert (
            'assayer_outbound_requests_total{kind="source",status="200",target="a_source_of_this_test"} 3.0'
            in page.read().decode()
        )
    with pytest.raises(URLError):
        urlopen(f"http://127.0.0.1:{port}/metrics")


def test_occupied_port_is_rejected_naming_its_setting() -> None:
    with socket.socket() as bound_socket:
        bound_socket.bind(("127.0.0.1", 0))
        bound_socket.listen()
        port = bound_socket.getsockname()[1]
        with (
            pytest.raises(ConfigurationError, match=r"ASSAYER_METRICS__PORT"),
            serve_metrics(MetricsSettings(port=port)),
        ):
            pass


def test_metrics_server_without_port_does_nothing() -> None:
    with serve_metrics(MetricsSettings()):
        pass
