"""A few places that evaluations take in turn: one with many papers does not hold up the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from workers.remote.line import Line

__all__ = ["Places"]


class _Seat:
    """One wait for a place. Compared by identity."""

    def __init__(self, asker: str) -> None:
        self.asker = asker
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Places:
    def __init__(self, count: int) -> None:
        self._free = count
        self._line: Line[_Seat] = Line()

    @asynccontextmanager
    async def place(self, asker: str) -> AsyncIterator[None]:
        seat = _Seat(asker)
        self._line.join(seat)
        self._serve()
        try:
            await seat.turn
        except asyncio.CancelledError:
            self._line.leave(seat)
            if seat.turn.done() and not seat.turn.cancelled():
                self._leave()
            raise
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        self._free += 1
        self._serve()

    def _serve(self) -> None:
        while self._free and (seat := self._line.serve()) is not None:
            if not seat.turn.done():
                self._free -= 1
                seat.turn.set_result(None)
