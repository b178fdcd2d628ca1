"""Run coroutines concurrently; the failure of one item becomes data, so the other items continue."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from assayer.errors import (
    AssayerError,
    ComponentUnavailable,
    ConfigurationError,
    LlmRejected,
    LlmUnavailable,
    StorageError,
)

In = TypeVar("In")
Out = TypeVar("Out")
Other = TypeVar("Other")

_FATAL_ERRORS = (LlmRejected, LlmUnavailable, ComponentUnavailable, StorageError, ConfigurationError)
"""Errors that would affect every other item too."""


class Failed:
    """An item's failure, returned instead of raised so that the other items continue."""

    def __init__(self, error: AssayerError) -> None:
        self.error = error


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Open a TaskGroup that raises its first error directly, not in an exception group, after cancelling the other
    tasks."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def gather_all(coroutines: Iterable[Coroutine[Any, Any, Out]]) -> list[Out]:
    """Run coroutines concurrently and return their results in order. The first error cancels the others and is raised
    directly, not in an exception group."""
    async with task_group() as group:
        tasks = [group.create_task(coroutine) for coroutine in coroutines]
    return [task.result() for task in tasks]


async def gather_pair(first: Coroutine[Any, Any, Out], second: Coroutine[Any, Any, Other]) -> tuple[Out, Other]:
    """Run two coroutines with different result types, as `gather_all` does."""
    async with task_group() as group:
        first_task, second_task = group.create_task(first), group.create_task(second)
    return first_task.result(), second_task.result()


async def catch_failure(awaitable: Awaitable[Out]) -> Out | Failed:
    """Return the awaited result or, if it failed, the failure as data.

    Errors that would affect every other item too are raised: cancellation, an endpoint that rejects the key or no
    longer responds, an unreachable database or service component, or a wrong setting. If the evaluation is restarted,
    it continues from its cached answers.

    Two other errors are returned as the item's failure. After BudgetExhausted, no more requests are sent, and earlier
    answers are kept. A Defect affects only one request; the report counts and names it."""
    try:
        return await awaitable
    except _FATAL_ERRORS:
        raise
    except AssayerError as error:
        return Failed(error)


async def gather_settled(items: Iterable[In], process_item: Callable[[In], Awaitable[Out]]) -> list[Out | Failed]:
    """Process every item concurrently and return the results in order; `Failed` takes the place of a result that
    failed."""
    return await gather_all(catch_failure(process_item(item)) for item in items)
