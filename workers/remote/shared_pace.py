"""One request at a time to a source that wants to be asked slowly, spaced over all processes that share the store."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assayer.ports import Clock
from workers.remote.rate_limit import SharedRateLimit, TurnEvent, TurnGranted, TurnRequest

__all__ = ["SharedPace"]


class SharedPace:
    """For callers that send a request now and then; the gateway, which sends many, has a scheduler of its own."""

    def __init__(self, limit: SharedRateLimit, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._lock = asyncio.Lock()
        self._claimant = secrets.token_hex(8)

    @asynccontextmanager
    async def permit(self) -> AsyncIterator[None]:
        """For one request. Raises StorageError."""
        async with self._lock:
            ticket = secrets.token_hex(8)
            try:
                await self._granted(TurnRequest(self._claimant, ticket, 1))
                await self._limit.exchange([TurnEvent("sent", ticket, self._clock.monotonic())], None)
                yield
            finally:
                now = self._clock.monotonic()
                ended = (
                    TurnEvent("answered", ticket, now),
                    TurnEvent("unused", ticket, now),
                    TurnEvent("left", self._claimant, now),
                )
                await self._limit.exchange(ended, None)

    async def _granted(self, request: TurnRequest) -> None:
        while True:
            verdict = await self._limit.exchange((), request)
            if verdict is None or isinstance(verdict, TurnGranted):
                return
            await asyncio.sleep(verdict.seconds)
