"""Renewal of all leases that a process holds, in a single statement, and detection of lost leases."""

import asyncio
import logging
from collections.abc import Callable
from uuid import UUID

from assayer.errors import AssayerError, error_text
from orchestrator.execution.ports import LeaseStore

_LOG = logging.getLogger(__name__)


class LeaseRenewal:
    """Periodic renewal of all held leases while `run` is active. Calls `on_lost` once for each lost lease.

    A lease is lost if the database no longer has it: the job was cancelled, has ended, or is leased to another worker.
    While the database is unreachable, work continues; if the lease was lost in the meantime, the verdict is rejected.
    Leases are renewed every third of their duration; the timeout of a renewal is half of that period."""

    def __init__(self, leases: LeaseStore, lease_seconds: float, on_lost: Callable[[UUID], None]) -> None:
        self._leases = leases
        self._period_seconds = lease_seconds / 3
        self._on_lost = on_lost
        self._tokens: set[UUID] = set()
        self._renewal_requested = asyncio.Event()

    def add(self, token: UUID) -> None:
        self._tokens.add(token)

    def remove(self, token: UUID) -> None:
        self._tokens.discard(token)

    def request_renewal(self) -> None:
        """Request an immediate renewal, which detects lost leases without a notification."""
        self._renewal_requested.set()

    async def run(self) -> None:
        """Renew the leases periodically until cancelled."""
        while True:
            self._renewal_requested.clear()
            # A failed renewal is retried sooner, because the leases could expire after another whole period.
            pause_seconds = self._period_seconds if await self.renew() else self._period_seconds / 6
            try:
                async with asyncio.timeout(pause_seconds):
                    await self._renewal_requested.wait()
            except TimeoutError:
                continue

    async def renew(self) -> bool:
        """Renew all held leases. Return False if the database was unreachable or did not respond in time."""
        tokens = frozenset(self._tokens)
        if not tokens:
            return True
        try:
            async with asyncio.timeout(self._period_seconds / 2):
                held_tokens = await self._leases.renew(list(tokens))
        except (AssayerError, TimeoutError) as error:
            _LOG.warning("could not renew %d leases: %s", len(tokens), error_text(error))
            return False
        for token in (tokens & self._tokens) - held_tokens:
            self._tokens.discard(token)
            self._on_lost(token)
        return True
