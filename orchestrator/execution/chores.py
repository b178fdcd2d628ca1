"""Chores: periodic maintenance of the whole service, run by whichever process starts it first."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from assayer.errors import AssayerError

_LOG = logging.getLogger(__name__)


class Chore(NamedTuple):
    """Periodic task; after a failure it is retried soon."""

    name: str
    seconds: float
    """Seconds from the end of one run to the start of the next."""
    work: Callable[[], Awaitable[object]]


class ChoreLock(Protocol):
    async def run_alone(self, name: str, work: Callable[[], Awaitable[object]]) -> bool:
        """Run the chore and return True; return False without running it while another process does the chore of this
        name. Raises StorageError and any exception from the work."""
        ...


async def run_chores(chores: Sequence[Chore], lock: ChoreLock, longest_pause: float) -> None:
    """Run the chores repeatedly until cancelled; any number of processes can do so concurrently."""
    async with asyncio.TaskGroup() as group:
        for chore in chores:
            group.create_task(_repeat(chore, lock, longest_pause))


async def _repeat(chore: Chore, lock: ChoreLock, longest_pause: float) -> None:
    while True:
        pause = chore.seconds
        try:
            await lock.run_alone(chore.name, chore.work)
        except AssayerError as error:
            _LOG.warning("could not %s: %s", chore.name, error)
            pause = min(pause, longest_pause)
        await asyncio.sleep(pause)
