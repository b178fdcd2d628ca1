"""Renews the leases that a process holds, all in one statement, and tells which were lost."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal
from uuid import UUID

from assayer.errors import AssayerError
from assayer.ports import Clock
from orchestrator.execution.ports import LeaseStore

__all__ = ["LeaseLossReason", "LeaseRenewal"]

_LOG = logging.getLogger(__name__)

LeaseLossReason = Literal["revoked", "expired"]
"""revoked: the job was cancelled, has ended, or is leased to somebody else. expired: no renewal got through in time."""


class LeaseRenewal:
    """`run` it as long as leases are held. It calls `on_lost` once for each lease that is lost, and drops it.

    There are three renewals in the life of a lease, and each is given up after half its period: a holder that cannot
    reach the database knows before its leases expire.
    """

    def __init__(
        self, leases: LeaseStore, lease_seconds: float, clock: Clock, on_lost: Callable[[UUID, LeaseLossReason], None]
    ) -> None:
        self._leases = leases
        self._life = lease_seconds
        self._period = lease_seconds / 3
        self._clock = clock
        self._on_lost = on_lost
        self._renewed_at: dict[UUID, float] = {}
        """When the last renewal that got through was sent."""
        self._soon = asyncio.Event()

    def add(self, token: UUID) -> None:
        self._renewed_at[token] = self._clock.monotonic()

    def remove(self, token: UUID) -> None:
        self._renewed_at.pop(token, None)

    def renew_soon(self) -> None:
        """Renews at once: a notification may have been missed."""
        self._soon.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            self._soon.clear()
            # A renewal that failed is tried again soon: after a whole period the leases would have expired.
            pause = self._period if await self.renew() else self._period / 6
            try:
                async with asyncio.timeout(pause):
                    await self._soon.wait()
            except TimeoutError:
                continue

    async def renew(self) -> bool:
        """False when the database did not take it."""
        tokens = frozenset(self._renewed_at)
        if not tokens:
            return True
        sent = self._clock.monotonic()
        try:
            async with asyncio.timeout(self._period / 2):
                held = await self._leases.renew(list(tokens))
        except (AssayerError, TimeoutError) as error:
            _LOG.warning("%d lease(s) could not be renewed: %r", len(tokens), error)
            self._drop_unrenewed()
            return False
        self._update(tokens, held, sent)
        self._drop_unrenewed()
        return True

    def _update(self, tokens: frozenset[UUID], held: set[UUID], sent: float) -> None:
        for token in tokens & self._renewed_at.keys():
            if token in held:
                self._renewed_at[token] = sent
            else:
                self._lose(token, "revoked")

    def _drop_unrenewed(self) -> None:
        latest = self._clock.monotonic() - (self._life - self._period)
        for token in [token for token, at in self._renewed_at.items() if at < latest]:
            self._lose(token, "expired")

    def _lose(self, token: UUID, why: LeaseLossReason) -> None:
        del self._renewed_at[token]
        self._on_lost(token, why)
