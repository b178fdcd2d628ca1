"""Admission to an endpoint that several processes ask: each has permits for a time, and no prompt leaves it.

The processes meet in a `RateLimitStore`, where `PermitBook` divides the endpoint's limit among them. A process that
cannot reach it goes on with the permits it has until their lease ends, and then begins no call until it can.
"""

import asyncio
import hashlib
import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from assayer.errors import PartUnavailable, StorageError
from assayer.ports import Clock
from assayer.run.context_variables import Urgency
from workers.concurrency.priority_gate import PriorityGate
from workers.llm.admission import URGENT, CallPriority
from workers.llm.permit_book import PermitBook, PermitRules
from workers.llm.permitted_slots import PermittedCall, PermittedSlots
from workers.llm.settings import LlmSettings
from workers.remote.rate_limit import RateLimitStore

if TYPE_CHECKING:
    from workers.llm.client import EndpointTransport

__all__ = ["SharedAdmission", "shared_transport"]

_LOG = logging.getLogger(__name__)
_SECONDS = 0.5
"""Between two exchanges while there are calls."""
_SOON = 0.1
"""Between two while urgent calls wait, or calls of others wait for the permits that this process must give back."""
_SOONEST = 0.02
"""Before an exchange that is made because calls have begun to wait."""
_IDLE_SECONDS = 5.0
"""Without a call, after which a process gives its permits back and comes no more."""


_LEASE_SECONDS = 10.0
"""After which the permits of a process that died are given to others."""


def shared_transport(settings: LlmSettings, store: RateLimitStore, clock: Clock) -> "EndpointTransport":
    """To the endpoint, within limits that all processes share that speak to it with the same key."""
    # Only those who talk to an LLM load what speaks HTTP.
    from workers.llm.client import EndpointTransport

    limits = settings.concurrency
    rules = PermitRules(limits.start, limits.max, settings.tokens_per_minute, _LEASE_SECONDS)
    whose = f"{settings.base_url} {settings.api_key.get_secret_value()}"
    name = hashlib.sha256(whose.encode()).hexdigest()[:32]
    return EndpointTransport(settings, clock, SharedAdmission(store, name, rules, clock))


class SharedAdmission:
    """Implements `workers.llm.admission.CallAdmission`. Belongs to one event loop; close it there."""

    def __init__(self, store: RateLimitStore, endpoint: str, rules: PermitRules, clock: Clock) -> None:
        """`endpoint` names what the limit belongs to: processes with the same name share it."""
        self._store, self._bucket, self._rules, self._clock = store, f"llm {endpoint}", rules, clock
        self._due = asyncio.Event()
        budgeted = rules.tokens_per_minute is not None
        self._slots = PermittedSlots(uuid.uuid4().hex, rules.lease_seconds, budgeted, clock.monotonic, self._due.set)
        self._gate = PriorityGate(self._slots)
        self._task: asyncio.Task[None] | None = None

    @property
    def most(self) -> int:
        return self._slots.permits

    @asynccontextmanager
    async def admitted(self, urgency: Urgency) -> AsyncIterator[PermittedCall]:
        if self._task is None:
            self._task = asyncio.create_task(self._exchange_until_cancelled(), name="LLM permits")
        if self._slots.full and (not len(self._gate) or (urgency.urgent and not self._gate.waiting(URGENT))):
            self._due.set()
        with urgency.watched(self._due.set):
            call = await self._gate.acquire(CallPriority(urgency))
        try:
            yield call
        finally:
            self._gate.release(call)

    async def aclose(self) -> None:
        """Gives the permits back, where the others can be told."""
        self._gate.close()
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with suppress(StorageError, TimeoutError):
            async with asyncio.timeout(_SECONDS):
                await self._exchange(leaving=True)

    async def _exchange_until_cancelled(self) -> None:
        try:
            await self._exchange_while_asked()
        except Exception as error:
            self._slots.defect = PartUnavailable(f"No permits for calls to the LLM come any more: {error!r}.")
            self._gate.admit()
            raise

    async def _exchange_while_asked(self) -> None:
        idle_since = self._clock.monotonic()
        while True:
            now = self._clock.monotonic()
            if self._slots.in_flight or len(self._gate):
                idle_since = now
            idle = now - idle_since > _IDLE_SECONDS
            self._due.clear()
            try:
                await self._exchange(leaving=idle)
            except StorageError as error:
                _LOG.warning("the permits for calls to the LLM could not be renewed: %s", error)
            self._gate.admit()
            await self._pause(None if idle and not len(self._gate) else self._interval())

    def _interval(self) -> float:
        hurried = self._gate.waiting(URGENT) or self._slots.in_flight > self._slots.permits
        starved = len(self._gate) and not self._slots.permits
        return _SOON if hurried or starved else _SECONDS

    async def _pause(self, seconds: float | None) -> None:
        """Until the next exchange is due."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.sleep(_SOONEST)
                await self._due.wait()

    async def _exchange(self, leaving: bool) -> None:
        asked = self._clock.monotonic()
        report = self._slots.report(len(self._gate), self._gate.waiting(URGENT), leaving)
        while True:
            shared = await self._store.read(self._bucket)
            book = PermitBook.from_json(shared.text)
            grant = book.exchange(report, shared.now, self._rules)
            if await self._store.compare_and_swap(self._bucket, shared.version, book.to_json()):
                self._slots.take(grant, asked)
                return
