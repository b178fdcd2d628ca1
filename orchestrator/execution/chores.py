"""Chores: what has to be done now and then for the whole service, by whichever process comes first."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from assayer.errors import AssayerError

__all__ = ["Chore", "ChoreLock", "run_chores"]

_LOG = logging.getLogger(__name__)


class Chore(NamedTuple):
    """After a failure it is soon tried again."""

    name: str
    seconds: float
    """From one end to the next start."""
    work: Callable[[], Awaitable[object]]


class ChoreLock(Protocol):
    async def run_alone(self, name: str, work: Callable[[], Awaitable[object]]) -> bool:
        """False, with nothing done, while another process does the chore of this name. Raises StorageError and what
        the work raises."""
        ...


async def run_chores(chores: Sequence[Chore], lock: ChoreLock, longest_pause: float) -> None:
    """Until it is cancelled; any number of processes may do so side by side."""
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
