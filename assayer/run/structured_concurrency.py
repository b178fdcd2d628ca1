"""Steps that run side by side, and the depth of LLM calls that had to wait for each other.

The depth of a computation is the longest chain of LLM calls that had to wait for each other. Every
asyncio task carries its own depth; `ask` (in `assayer.llm`) adds one, and `together` joins children
by taking the deepest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from assayer.errors import (
    AssayerError,
    ConfigurationError,
    LlmRejected,
    LlmUnavailable,
    PartUnavailable,
    StorageError,
)

__all__ = ["Failed", "attempt", "both", "deepen", "depth", "each", "measured", "together"]

In = TypeVar("In")
Out = TypeVar("Out")
Other = TypeVar("Other")

_MET_BY_ALL = (LlmRejected, LlmUnavailable, PartUnavailable, StorageError, ConfigurationError)

_depth: ContextVar[int] = ContextVar("depth", default=0)


def depth() -> int:
    """LLM calls on the longest chain that led here."""
    return _depth.get()


def deepen() -> None:
    """One more LLM call was waited for."""
    _depth.set(_depth.get() + 1)


class Failed:
    """An item that could not be worked on. Data, not an exception: its siblings go on."""

    def __init__(self, error: AssayerError) -> None:
        self.error = error


async def measured(work: Awaitable[Out]) -> tuple[Out, int]:
    """The result, and the depth of `work` alone."""
    before = depth()
    result = await work
    return result, depth() - before


async def _with_depth(work: Coroutine[Any, Any, Out]) -> tuple[Out, int]:
    result = await work
    return result, depth()


async def together(works: Iterable[Coroutine[Any, Any, Out]]) -> list[Out]:
    """Runs all, in order of results; the first error cancels the rest and is raised as itself."""
    tasks: list[asyncio.Task[tuple[Out, int]]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_with_depth(work)) for work in works]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    outcomes = [task.result() for task in tasks]
    _depth.set(max((reached for _, reached in outcomes), default=depth()))
    return [result for result, _ in outcomes]


async def both(one: Coroutine[Any, Any, Out], other: Coroutine[Any, Any, Other]) -> tuple[Out, Other]:
    """Two works of different kinds, as `together`."""
    works: list[Coroutine[Any, Any, Any]] = [one, other]
    first, second = await together(works)
    return first, second


async def attempt(work: Awaitable[Out]) -> Out | Failed:
    """The result, or the failure as data.

    What every other item would meet as well (cancellation, an endpoint that refuses the key or has stopped answering,
    a database or a part of the service that is out of reach, a wrong setting) is raised: started again, the evaluation
    goes on from its cached answers. A spent budget is one item's own failure: nothing more is sent, and what was
    already answered is kept. So is a Defect, which is one request's; the report counts and names it.
    """
    try:
        return await work
    except _MET_BY_ALL:
        raise
    except AssayerError as error:
        return Failed(error)


async def each(items: Iterable[In], work: Callable[[In], Awaitable[Out]]) -> list[Out | Failed]:
    """Works on every item side by side; an item's own failure becomes `Failed` in its place."""
    return await together(attempt(work(item)) for item in items)
