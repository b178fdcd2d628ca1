"""Concurrent evaluations, with rules for which of them continue when some fail."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from assayer.errors import AssayerError, ConfigurationError, LlmRejected, LlmUnavailable
from assayer.run.concurrency import gather_all

Out = TypeVar("Out")

FATAL = (LlmRejected, ConfigurationError)
"""Errors that every later evaluation would encounter as well."""


class SideBySide(NamedTuple, Generic[Out]):
    ended: Mapping[int, Out | AssayerError]
    """Results and failures by position; work that had not ended when all work was stopped is missing."""
    stopped: AssayerError | None = None
    """Error that made continuing pointless."""


async def side_by_side(
    works: Sequence[Callable[[], Awaitable[Out]]], reach: Callable[[], Awaitable[None]]
) -> SideBySide[Out]:
    """Run work items concurrently; if one fails, the others continue. If `reach` raises LlmUnavailable because the
    endpoint is permanently gone, all items stop instead of each waiting for it."""
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
