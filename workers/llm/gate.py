"""Lets calls through as far as an `AdaptiveLimit` allows: the urgent ones first, else first come first served."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager

from workers.llm.concurrency import AdaptiveLimit

__all__ = ["Gate", "Passage"]


class Passage:
    """One call's time in flight. It ends by telling how it went, or silently when that says nothing about
    how much the endpoint can take."""

    def __init__(self, gate: "Gate", epoch: int) -> None:
        self._gate = gate
        self._epoch = epoch

    def answered(self, kind: Hashable, seconds: float) -> None:
        gate = self._gate
        gate.limit.answered(self._epoch, gate.monotonic(), kind, seconds, gate.in_flight)

    def turned_away(self, retry_after: float | None) -> None:
        gate = self._gate
        gate.limit.turned_away(self._epoch, gate.monotonic(), retry_after, gate.in_flight)


class Gate:
    """Belongs to one event loop."""

    def __init__(self, limit: AdaptiveLimit, monotonic: Callable[[], float]) -> None:
        self.limit = limit
        self.monotonic = monotonic
        self.in_flight = 0
        self.peak = 0
        """Most calls ever in flight at once."""
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()
        self._wake: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def passage(self, urgent: bool = False) -> AsyncIterator[Passage]:
        await self._enter(self._urgent if urgent else self._others)
        try:
            yield Passage(self, self.limit.epoch)
        finally:
            self.in_flight -= 1
            self._admit()

    async def _enter(self, queue: deque[asyncio.Future[None]]) -> None:
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.in_flight -= 1
            self._admit()
            raise

    def _admit(self) -> None:
        pause = self.limit.paused_until - self.monotonic()
        if pause > 0:
            if self._wake is None and (self._urgent or self._others):
                self._wake = asyncio.get_running_loop().call_later(pause, self._resume)
            return
        while (queue := self._urgent or self._others) and self.in_flight < self.limit.value:
            turn = queue.popleft()
            if not turn.done():
                self.in_flight += 1
                self.peak = max(self.peak, self.in_flight)
                turn.set_result(None)

    def _resume(self) -> None:
        self._wake = None
        self._admit()
