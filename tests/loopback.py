"""Proof that no packet of a test leaves loopback: every other address is refused before it is reached, and counted."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

_LOOKUP_EVENTS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_CONNECTION_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


class Outbound:
    """Attempts to leave this process over the network; child processes are not watched."""

    def __init__(self) -> None:
        self.attempts: list[str] = []

    def judge(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise OSError for the lookup of a foreign name and for a packet to a foreign address."""
        if event in _LOOKUP_EVENTS and not _is_this_machine(arguments[0], numbers_stay=True):
            self._refuse(event, arguments[0])
        elif event in _CONNECTION_EVENTS and isinstance(arguments[1], tuple) and not _is_this_machine(arguments[1][0]):
            self._refuse(event, arguments[1][0])

    def _refuse(self, event: str, host: object) -> None:
        self.attempts.append(f"{event} {host}")
        raise OSError(f"A test tried to leave loopback: {event} {host}.")


def _is_this_machine(host: object, *, numbers_stay: bool = False) -> bool:
    """Return whether the host is this machine. With `numbers_stay`, any IP address counts, because looking one up sends
    no request."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        address = ip_address(str(host))
    except ValueError:
        return False
    return numbers_stay or address.is_loopback


_watching: list[Outbound] = []


def _judge_event(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event.startswith("socket."):
        _watching[-1].judge(event, arguments)


sys.addaudithook(_judge_event)
# Audit hooks cannot be removed: this one does nothing unless a test watches.


@contextmanager
def loopback_only() -> Iterator[Outbound]:
    outbound = Outbound()
    _watching.append(outbound)
    try:
        yield outbound
    finally:
        _watching.remove(outbound)
