"""The service's readiness. Requests that arrive at or around the same time share one check."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from fastapi import Depends

from orchestrator.jobs.withheld_addresses import withhold_addresses
from orchestrator.problems import Check
from orchestrator.web.services import get_from_application

_LOG = logging.getLogger(__name__)


class Readiness:
    """A cache for readiness checks, which is needed because callers require no key and each check takes a database
    connection. One instance per application."""

    def __init__(
        self,
        check: Callable[[], Awaitable[Sequence[Check]]],
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the cache. A result is valid for `seconds`; 0 repeats the check for every caller."""
        self._check = check
        self._seconds = seconds
        self._monotonic = monotonic
        self._lock = asyncio.Lock()
        self._checks: tuple[Check, ...] = ()
        self._until = float("-inf")

    async def run_checks(self) -> tuple[Check, ...]:
        """Return the results of the checks. Host addresses are only logged, not returned."""
        async with self._lock:
            if self._monotonic() >= self._until:
                checks = await self._check()
                for check in checks:
                    if not check.ok:
                        _LOG.warning("not ready: %s: %s", check.name, check.detail)
                self._checks = tuple(
                    check.model_copy(update={"detail": withhold_addresses(check.detail)}) for check in checks
                )
                self._until = self._monotonic() + self._seconds
            return self._checks


ReadinessDependency = Annotated[Readiness, Depends(get_from_application("readiness"))]
