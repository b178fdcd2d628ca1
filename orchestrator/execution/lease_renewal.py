"""Renewal of all leases that a process holds, in one statement, with detection of lost leases."""

import asyncio
import logging
from collections.abc import Callable
from uuid import UUID

from assayer.errors import AssayerError, said_by
from orchestrator.execution.ports import LeaseStore

_LOG = logging.getLogger(__name__)


class LeaseRenewal:
    """Renewal of all held leases while `run` is active; calls `on_lost` once for each lost lease.

    A lease is lost if the database no longer knows it: the job was cancelled, has ended, or is leased elsewhere. While
    the database is unreachable, work continues; if the lease was lost in the meantime, the verdict is refused. A lease
    is renewed three times before it expires; each renewal has a timeout of half its period."""

    def __init__(self, leases: LeaseStore, lease_seconds: float, on_lost: Callable[[UUID], None]) -> None:
        self._leases = leases
        self._period = lease_seconds / 3
        self._on_lost = on_lost
        self._tokens: set[UUID] = set()
        self._soon = asyncio.Event()

    def add(self, token: UUID) -> None:
        self._tokens.add(token)

    def remove(self, token: UUID) -> None:
        self._tokens.discard(token)

    def renew_soon(self) -> None:
        """Renew the leases immediately, because a notification may have been missed."""
        self._soon.set()

    async def run(self) -> None:
        """Renew the leases periodically until cancelled."""
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
        """Renew the leases held; return False if the database did not accept the renewal."""
        tokens = frozenset(self._tokens)
        if not tokens:
            return True
        try:
            async with asyncio.timeout(self._period / 2):
                held = await self._leases.renew(list(tokens))
        except (AssayerError, TimeoutError) as error:
            _LOG.warning("%d lease(s) could not be renewed: %s", len(tokens), said_by(error))
            return False
        for token in (tokens & self._tokens) - held:
            self._tokens.discard(token)
            self._on_lost(token)
        return True
