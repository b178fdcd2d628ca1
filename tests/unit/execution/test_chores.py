"""Chores: done again and again, also after a failure, and one stops no other."""

import asyncio
from collections.abc import Awaitable, Callable

from assayer.errors import StorageError
from orchestrator.execution.chores import Chore, run_chores


class Unlocked:
    """Lock under which no other process does any chore."""

    async def run_alone(self, name: str, work: Callable[[], Awaitable[object]]) -> bool:
        await work()
        return True


async def test_failed_chore_is_retried_without_stopping_other_chores() -> None:
    again, other = asyncio.Event(), asyncio.Event()
    times = 0

    async def failing_once() -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise StorageError("The database is out of reach.")
        again.set()

    async def quiet() -> None:
        other.set()

    chores = [Chore("sweep", 0.0, failing_once), Chore("dust", 3_600.0, quiet)]
    running = asyncio.create_task(run_chores(chores, Unlocked(), 0.01))
    await again.wait()
    await other.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert times >= 2
