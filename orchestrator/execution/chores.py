"""Periodic maintenance tasks of the whole service (chores), each run by only one process at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from assayer.errors import AssayerError

_LOG = logging.getLogger(__name__)


class Chore(NamedTuple):
    """Periodic maintenance task. If it fails, it is retried after a shorter pause."""

    name: str
    seconds: float
    """Seconds from the end of a run to the start of the next run."""
    run: Callable[[], Awaitable[object]]


class ChoreLock(Protocol):
    async def run_alone(self, name: str, run: Callable[[], Awaitable[object]]) -> bool:
        """Run the chore and return True; return False without running it if another process is running the chore with
        this name. Raises StorageError, and any exception from `run`."""
        ...


async def run_chores(chores: Sequence[Chore], lock: ChoreLock, max_pause_seconds: float) -> None:
    """Run the chores repeatedly until cancelled. Any number of processes can call this concurrently; `lock` ensures
    that each chore runs in only one of them. `max_pause_seconds` is the maximum number of seconds before a failed chore
    is retried."""
    async with asyncio.TaskGroup() as group:
        for chore in chores:
            group.create_task(_repeat_chore(chore, lock, max_pause_seconds))


async def _repeat_chore(chore: Chore, lock: ChoreLock, max_pause_seconds: float) -> None:
    while True:
        pause_seconds = chore.seconds
        try:
            await lock.run_alone(chore.name, chore.run)
        except AssayerError as error:
            _LOG.warning("could not %s: %s", chore.name, error)
            pause_seconds = min(pause_seconds, max_pause_seconds)
        await asyncio.sleep(pause_seconds)
