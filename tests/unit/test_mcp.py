"""Addresses and host names at which the MCP server is reachable."""

import pytest

from assayer.errors import ConfigurationError, InputError
from cluster.cli.mcp import parse_host_and_port
from cluster.mcp.callers import parse_bearer_key
from cluster.mcp.server import create_http_app
from cluster.mcp.waiting import ServerState


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("127.0.0.1:8766", ("127.0.0.1", 8766)),
        ("[::1]:8766", ("::1", 8766)),
        ("8766", ("127.0.0.1", 8766)),
        (":0", ("127.0.0.1", 0)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
    ],
)
def test_port_without_host_means_loopback(text: str, read: tuple[str, int]) -> None:
    assert parse_host_and_port(text) == read


@pytest.mark.parametrize(
    "text", ["", "localhost", "localhost:", "localhost:http", "127.0.0.1:65536", "a:1234567", "a:²"]
)
def test_invalid_address_is_rejected(text: str) -> None:
    with pytest.raises(InputError, match="not an address"):
        parse_host_and_port(text)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "mcp.example.org"])
def test_host_beyond_loopback_requires_allowed_host(host: str) -> None:
    with pytest.raises(ConfigurationError, match="--allowed-host"):
        create_http_app(None, host, (), ServerState())
    assert create_http_app(None, host, ("mcp.example.org",), ServerState()).routes


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("Bearer ak_1", "ak_1"),
        ("bearer  ak_1 ", "ak_1"),
        ("Basic ak_1", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("", None),
        (None, None),
    ],
)
def test_key_is_read_from_bearer_header(header: str | None, key: str | None) -> None:
    assert parse_bearer_key(header) == key
