"""Whether the service is ready, looked at once for all who ask at the same time or soon after."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from fastapi import Depends, Request

from orchestrator.api.common_schemas import Check

__all__ = ["Readiness", "ReadinessDependency"]


class Readiness:
    """Whoever may ask needs no key, and every look takes a connection to the database. One per application."""

    def __init__(
        self,
        look: Callable[[], Awaitable[Sequence[Check]]],
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """What was found holds for so many seconds; 0 looks again for everyone who did not come meanwhile."""
        self._look = look
        self._seconds = seconds
        self._monotonic = monotonic
        self._looking: asyncio.Task[tuple[Check, ...]] | None = None
        self._until = 0.0

    async def checks(self) -> tuple[Check, ...]:
        """A caller that goes away does not end the look, which others may wait for."""
        if self._looking is None or (self._looking.done() and self._monotonic() >= self._until):
            self._looking = asyncio.create_task(self._look_once())
        return await asyncio.shield(self._looking)

    async def _look_once(self) -> tuple[Check, ...]:
        try:
            return tuple(await self._look())
        finally:
            self._until = self._monotonic() + self._seconds


async def _readiness(request: Request) -> Readiness:
    readiness: Readiness = request.app.state.readiness
    return readiness


ReadinessDependency = Annotated[Readiness, Depends(_readiness)]
