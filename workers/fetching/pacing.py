"""Patience with slow bodies and politeness towards hosts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

__all__ = ["HostTurns", "Pace"]


class Pace:
    """Whether a body comes too slowly, judged over one window after another; a burst earns no credit."""

    def __init__(self, started: float, slowest: float, patience: float) -> None:
        self._least = slowest * patience
        self._patience = patience
        self._since = started
        self._received = 0

    def crawls(self, now: float, received: int) -> bool:
        """`received` bytes came by `now` since the last call."""
        self._received += received
        if now - self._since < self._patience:
            return False
        too_slow = self._received < self._least
        self._since, self._received = now, 0
        return too_slow


@dataclass
class _Turns:
    free: asyncio.Semaphore
    askers: int = field(default=0)


class HostTurns:
    """At most so many at one host at a time, first come, first served; idle hosts are forgotten."""

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._hosts: dict[str, _Turns] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        turns = self._hosts.setdefault(host, _Turns(asyncio.Semaphore(self._per_host)))
        turns.askers += 1
        try:
            async with turns.free:
                yield
        finally:
            turns.askers -= 1
            if not turns.askers:
                del self._hosts[host]
