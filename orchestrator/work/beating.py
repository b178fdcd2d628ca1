"""Signs of life for leases, in one statement for all that a process holds."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal
from uuid import UUID

from assayer.errors import AssayerError
from assayer.ports import Clock
from orchestrator.work.ports import Leases

__all__ = ["Beating", "WhyLost"]

_LOG = logging.getLogger(__name__)

WhyLost = Literal["taken", "silent"]
"""Taken away: cancelled, ended or somebody else's. Silent: no sign of life got through for too long."""


class Beating:
    """`run` it as long as anything is held; tells once of each lease that is lost, and forgets it.

    With three beats in the life of a lease, each given up after half its period, whoever cannot reach the database
    is told so before the life is over.
    """

    def __init__(
        self, leases: Leases, lease_seconds: float, clock: Clock, lost: Callable[[UUID, WhyLost], None]
    ) -> None:
        self._leases = leases
        self._life = lease_seconds
        self._period = lease_seconds / 3
        self._clock = clock
        self._lost = lost
        self._alive_at: dict[UUID, float] = {}
        """When the last sign of life that got through was sent."""
        self._wanted = asyncio.Event()

    def add(self, token: UUID) -> None:
        self._alive_at[token] = self._clock.monotonic()

    def drop(self, token: UUID) -> None:
        self._alive_at.pop(token, None)

    def soon(self) -> None:
        """Beats at once: something may have happened that was not heard."""
        self._wanted.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            self._wanted.clear()
            # What did not get through is sent again soon: after a whole period the life would be over.
            pause = self._period if await self.beat() else self._period / 6
            try:
                async with asyncio.timeout(pause):
                    await self._wanted.wait()
            except TimeoutError:
                continue

    async def beat(self) -> bool:
        """Whether it got through, if there was anything to tell."""
        tokens = frozenset(self._alive_at)
        if not tokens:
            return True
        sent = self._clock.monotonic()
        try:
            async with asyncio.timeout(self._period / 2):
                held = await self._leases.beat(list(tokens))
        except (AssayerError, TimeoutError) as error:
            _LOG.warning("no sign of life got through for %d lease(s): %r", len(tokens), error)
            self._check_silence()
            return False
        self._heard(tokens, held, sent)
        self._check_silence()
        return True

    def _heard(self, tokens: frozenset[UUID], held: set[UUID], sent: float) -> None:
        for token in tokens & self._alive_at.keys():
            if token in held:
                self._alive_at[token] = sent
            else:
                self._lose(token, "taken")

    def _check_silence(self) -> None:
        latest = self._clock.monotonic() - (self._life - self._period)
        for token in [token for token, at in self._alive_at.items() if at < latest]:
            self._lose(token, "silent")

    def _lose(self, token: UUID, why: WhyLost) -> None:
        del self._alive_at[token]
        self._lost(token, why)
