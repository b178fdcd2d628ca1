"""The guard of the tests itself: what would leave this machine is refused and counted."""

import socket

import pytest

from tests.loopback import loopback_only


def test_external_connections_and_lookups_are_refused_and_recorded() -> None:
    with loopback_only() as outbound, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        with pytest.raises(OSError, match="leave loopback"):
            socket.getaddrinfo("example.org", 80)
        with pytest.raises(OSError, match="leave loopback"):
            socket.create_connection(("192.0.2.1", 80))
        with pytest.raises(OSError, match="leave loopback"):
            datagrams.sendto(b"x", ("198.51.100.7", 53))
        with pytest.raises(OSError, match="leave loopback"):
            datagrams.connect(("203.0.113.9", 53))
    assert outbound.attempts == [
        "socket.getaddrinfo example.org",
        "socket.connect 192.0.2.1",
        "socket.sendto 198.51.100.7",
        "socket.connect 203.0.113.9",
    ]


def test_loopback_connections_and_numeric_lookups_are_allowed() -> None:
    with loopback_only() as outbound, socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()):
            pass
        assert socket.getaddrinfo("8.8.8.8", 53)
        assert socket.getaddrinfo("localhost", 53)
        first_end, second_end = socket.socketpair()
        first_end.close()
        second_end.close()
    assert outbound.attempts == []
