"""Whether the service is ready, looked at once for all who ask at the same time or soon after."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from fastapi import Depends, Request

from orchestrator.api.common_schemas import Check
from orchestrator.jobs.withheld_addresses import without_addresses

__all__ = ["Readiness", "ReadinessDependency"]

_LOG = logging.getLogger(__name__)


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
        """Without addresses, which stand in the log. A caller that goes away does not end the look: others may wait."""
        if self._looking is None or (self._looking.done() and self._monotonic() >= self._until):
            self._looking = asyncio.create_task(self._look_once())
        return await asyncio.shield(self._looking)

    async def _look_once(self) -> tuple[Check, ...]:
        try:
            found = await self._look()
            for check in found:
                if not check.ok:
                    _LOG.warning("not ready: %s: %s", check.name, check.detail)
            return tuple(one.model_copy(update={"detail": without_addresses(one.detail)}) for one in found)
        finally:
            self._until = self._monotonic() + self._seconds


async def _readiness(request: Request) -> Readiness:
    readiness: Readiness = request.app.state.readiness
    return readiness


ReadinessDependency = Annotated[Readiness, Depends(_readiness)]
