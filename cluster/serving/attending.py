"""Work that goes on beside something else, and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from assayer.errors import Defect

__all__ = ["attended", "check_on"]


@asynccontextmanager
async def attended(work: Coroutine[Any, Any, None]) -> AsyncIterator["asyncio.Task[None]"]:
    """Whoever holds it looks whether the task is still running; on the way out it is cancelled and waited for."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def check_on(task: "asyncio.Task[None]", what: str) -> None:
    """Raises Defect, saying why, when work that should go on has ended."""
    if task.done():
        why = "it was cancelled" if task.cancelled() else repr(task.exception())
        raise Defect(f"{what} has stopped: {why}.")
