"""Divide a limit equally among all processes that use the same endpoint.

Each process that has requests renews its lease about every second. It gets the limit divided by the number of live
processes, but never more than the others leave free. All processes together therefore stay within the limit while
processes start and stop."""

import asyncio
import logging
import math
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from pydantic import TypeAdapter

from assayer.errors import ComponentUnavailable, StorageError
from workers.outbound.store import SharedState

_LOG = logging.getLogger(__name__)
LEASE_SECONDS = 10.0
"""Seconds after which a dead process's share goes to the others."""
_RENEW_SECONDS = 1.0
_SOON_SECONDS = 0.1
"""Seconds between two renewals while a process holds less than its share or has too many requests in flight."""
_IDLE_SECONDS = 5.0
"""Seconds without a request after which a process gives up its share until it has a request again."""


class ShareHolder(NamedTuple):
    """A process's state, as visible to the other processes."""

    lease_end: float
    """When its lease ends."""
    share: int
    """Maximum number of requests that the process may have in flight."""


_HOLDERS_ADAPTER = TypeAdapter(dict[str, ShareHolder])


def divide_limit(
    holders: dict[str, ShareHolder], process: str, in_flight: int, limit: int, now: float
) -> tuple[int, int]:
    """Renew a process's lease; return its current share, and the share that it will eventually have.

    The share is never less than the number of requests in flight. A process gets one slot even if there are more
    processes than the limit allows."""
    for name in [name for name, holder in holders.items() if holder.lease_end < now]:
        del holders[name]
    names = sorted({*holders, process})
    target = max(1, limit // len(names) + (names.index(process) < limit % len(names)))
    held_by_others = sum(holder.share for name, holder in holders.items() if name != process)
    free_slots = limit - held_by_others if limit >= len(names) else 1
    share = max(min(target, free_slots), 0)
    holders[process] = ShareHolder(now + LEASE_SECONDS, max(share, in_flight))
    return share, target


class ProcessShare:
    """This process's share of a limit. Renewals start with the first request. It belongs to one event loop, in which it
    must be closed."""

    def __init__(self, state: SharedState, key: str, limit: int, monotonic: Callable[[], float]) -> None:
        self._state = state
        self._key = key
        self._limit = limit
        self._monotonic = monotonic
        self._process = uuid.uuid4().hex
        self._share = 0
        self._target = 1
        self.fraction = 1.0
        """Fraction of the whole limit that this process may use, for limits that do not count requests."""
        self._lease_end = -math.inf
        self._is_wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def require(self) -> None:
        """Raise ComponentUnavailable if the share is no longer being renewed. That would be a bug."""
        if self._task is not None and self._task.done():
            raise ComponentUnavailable(
                "This process no longer renews its share of the LLM request limit.", "Please report this."
            )

    @property
    def value(self) -> int:
        """Return the number of requests that may be in flight; 0 after the lease has expired."""
        return self._share if self._monotonic() < self._lease_end else 0

    def request_share(
        self, in_flight: Callable[[], int], is_waiting: Callable[[], bool], on_change: Callable[[], None]
    ) -> None:
        """Hold a share until no request has been in flight or waiting for `_IDLE_SECONDS`."""
        if self._task is None:
            self._task = asyncio.create_task(
                self._renew(in_flight, is_waiting, on_change), name="share of LLM requests"
            )
        self._is_wanted.set()

    async def aclose(self) -> None:
        """Stop renewing the share and, if the shared state is reachable, release it."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with suppress(StorageError, TimeoutError):
            async with asyncio.timeout(_RENEW_SECONDS):
                await self._leave()

    async def _renew(
        self, in_flight: Callable[[], int], is_waiting: Callable[[], bool], on_change: Callable[[], None]
    ) -> None:
        busy_at = self._monotonic()
        try:
            while True:
                renewed_at = self._monotonic()
                if in_flight() or is_waiting():
                    busy_at = renewed_at
                try:
                    if renewed_at - busy_at > _IDLE_SECONDS:
                        self._is_wanted.clear()
                        await self._leave()
                        await self._is_wanted.wait()
                        busy_at = self._monotonic()
                        continue
                    await self._divide(in_flight())
                    self._lease_end = renewed_at + LEASE_SECONDS
                except StorageError as error:
                    _LOG.warning("this process's share of the LLM request limit could not be renewed: %s", error)
                on_change()
                is_settled = self._share == self._target and in_flight() <= self._share
                await asyncio.sleep(_RENEW_SECONDS if is_settled else _SOON_SECONDS)
        finally:  # after the task has ended, so that waiting requests notice a failure
            asyncio.get_running_loop().call_soon(on_change)

    async def _divide(self, in_flight: int) -> None:
        def renew_lease(text: str, now: float) -> tuple[str, tuple[int, int, int]]:
            holders = _HOLDERS_ADAPTER.validate_json(text)
            share, target = divide_limit(holders, self._process, in_flight, self._limit, now)
            return _HOLDERS_ADAPTER.dump_json(holders).decode(), (share, target, len(holders))

        self._share, self._target, processes = await self._state.change(self._key, renew_lease)
        self.fraction = 1 / processes

    async def _leave(self) -> None:
        def remove_lease(text: str, now: float) -> tuple[str, None]:
            holders = _HOLDERS_ADAPTER.validate_json(text)
            holders.pop(self._process, None)
            return _HOLDERS_ADAPTER.dump_json(holders).decode(), None

        self._lease_end = -math.inf
        await self._state.change(self._key, remove_lease)
