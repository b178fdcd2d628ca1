"""Evaluations side by side, and what of them goes on when some fail."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from assayer.errors import AssayerError, ConfigurationError, LlmRejected, LlmUnavailable
from assayer.run.structured_concurrency import together

__all__ = ["SideBySide", "side_by_side"]

Out = TypeVar("Out")

_FATAL = (LlmRejected, ConfigurationError)
"""What the next evaluation would meet as well."""


class SideBySide(NamedTuple, Generic[Out]):
    ended: Mapping[int, Out | AssayerError]
    """Results and failures by place; what had not ended when all were stopped is not in it."""
    stopped: AssayerError | None = None
    """What made going on pointless."""


async def side_by_side(
    works: Sequence[Callable[[], Awaitable[Out]]], reach: Callable[[], Awaitable[None]]
) -> SideBySide[Out]:
    """One's failure costs no other its result. An endpoint that is gone for good, as `reach` tells by raising
    LlmUnavailable, stops them all instead of being waited for by each."""
    ended: dict[int, Out | AssayerError] = {}

    async def attempt(number: int, work: Callable[[], Awaitable[Out]]) -> None:
        try:
            ended[number] = await work()
        except _FATAL:
            raise
        except AssayerError as error:
            ended[number] = error
            if isinstance(error, LlmUnavailable):
                await reach()

    try:
        await together(attempt(number, work) for number, work in enumerate(works))
    except (*_FATAL, LlmUnavailable) as error:
        return SideBySide(ended, error)
    return SideBySide(ended)
