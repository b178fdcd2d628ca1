"""Chores: done again and again, also after a failure, and one stops no other."""

import asyncio
from collections.abc import Awaitable, Callable

from assayer.errors import StorageError
from orchestrator.execution.chores import Chore, run_chores


class AlwaysFreeLock:
    """Lock under which no other process does any chore."""

    async def run_alone(self, name: str, work: Callable[[], Awaitable[object]]) -> bool:
        await work()
        return True


async def test_failed_chore_is_retried_without_stopping_other_chores() -> None:
    retried, other_ran = asyncio.Event(), asyncio.Event()
    times = 0

    async def fail_once() -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise StorageError("The database is out of reach.")
        retried.set()

    async def succeed() -> None:
        other_ran.set()

    chores = [Chore("sweep", 0.0, fail_once), Chore("dust", 3_600.0, succeed)]
    running = asyncio.create_task(run_chores(chores, AlwaysFreeLock(), 0.01))
    await retried.wait()
    await other_ran.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert times >= 2
