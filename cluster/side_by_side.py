"""Concurrent evaluations, some of which may fail without stopping the others."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from assayer.errors import AssayerError, ConfigurationError, LlmRejected, LlmUnavailable
from assayer.run.concurrency import gather_all

Out = TypeVar("Out")

FATAL = (LlmRejected, ConfigurationError)
"""Errors that would also make every other evaluation fail."""


class SideBySide(NamedTuple, Generic[Out]):
    ended: Mapping[int, Out | AssayerError]
    """Results and failures by position. If all work was stopped, items that had not ended are missing."""
    stopped: AssayerError | None = None
    """Error that stopped all work, if any."""


async def run_side_by_side(
    works: Sequence[Callable[[], Awaitable[Out]]], reach: Callable[[], Awaitable[None]]
) -> SideBySide[Out]:
    """Run work items concurrently. If one fails, the others continue, except after an error in `FATAL`. After
    LlmUnavailable, `reach` checks the endpoint; if it raises the same error, all items stop."""
    ended: dict[int, Out | AssayerError] = {}

    async def attempt(number: int, work: Callable[[], Awaitable[Out]]) -> None:
        try:
            ended[number] = await work()
        except FATAL:
            raise
        except AssayerError as error:
            ended[number] = error
            if isinstance(error, LlmUnavailable):
                await reach()

    try:
        await gather_all(attempt(number, work) for number, work in enumerate(works))
    except (*FATAL, LlmUnavailable) as error:
        return SideBySide(ended, error)
    return SideBySide(ended)
