"""`client.rewards`: what both clients offer of rewards."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TypeVar

from assayer_client import rewards as calls
from assayer_client.event_stream import EventStream
from assayer_client.operations import AsyncRunner, Operation, Runner
from assayer_client.requests import ApiCall
from assayer_client.resources import TERMINAL, Event
from assayer_client.retries import next_poll
from assayer_client.rewards import RewardItems, RewardOutcome, RewardsResource

__all__ = ["AsyncRewards", "Rewards"]

T = TypeVar("T")

_HELD_SECONDS = 20.0
"""For which the service is asked to hold an answer that has nothing new."""
_AT_ONCE = 1_000


class _RewardOperations:
    submit = Operation(calls.submit)
    get = Operation(calls.rewards)
    items = Operation(calls.items)
    debate_text = Operation(calls.debate_text)
    list = Operation(calls.listed)
    cancel = Operation(calls.cancel)
    erase = Operation(calls.erase)
    verify = Operation(calls.verify)
    compare = Operation(calls.compare)


class Rewards(_RewardOperations):
    """Of a client for programs that wait. Every method raises ApiProblem and ServiceUnreachable."""

    def __init__(
        self,
        runner: Runner,
        follow: Callable[[EventStream[Event], int], Iterator[Event]],
        sleep: Callable[[float], None],
    ) -> None:
        self._runner = runner
        self._follow = follow
        self._sleep = sleep

    def run(self, call: ApiCall[T]) -> T:
        return self._runner.run(call)

    def outcomes(self, job: str, *, after: int = 0, seconds: float | None = None) -> Iterator[RewardOutcome]:
        """As they come, until all have. Raises TimeoutError."""
        began = time.monotonic()
        while True:
            page = self.run(calls.items(job, after=after, limit=_AT_ONCE, seconds=_HELD_SECONDS))
            yield from page.items
            after = page.last
            if _is_last(page):
                return
            if not page.items:
                self._sleep(next_poll(time.monotonic() - began, seconds, job))

    def wait(self, job: str, *, seconds: float | None = None) -> RewardsResource:
        """All outcomes, in the order of the items. Raises TimeoutError: the work goes on."""
        for _ in self.outcomes(job, seconds=seconds):
            continue
        return self.run(calls.rewards(job))

    def events(self, job: str) -> Iterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._follow(calls.events(job), 0)


class AsyncRewards(_RewardOperations):
    """Rewards, to be awaited: the same methods with the same parameters and errors."""

    def __init__(
        self,
        runner: AsyncRunner,
        follow: Callable[[EventStream[Event], int], AsyncIterator[Event]],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._runner = runner
        self._follow = follow
        self._sleep = sleep

    async def run(self, call: ApiCall[T]) -> T:
        return await self._runner.run(call)

    async def outcomes(self, job: str, *, after: int = 0, seconds: float | None = None) -> AsyncIterator[RewardOutcome]:
        """As they come, until all have. Raises TimeoutError."""
        began = time.monotonic()
        while True:
            page = await self.run(calls.items(job, after=after, limit=_AT_ONCE, seconds=_HELD_SECONDS))
            for outcome in page.items:
                yield outcome
            after = page.last
            if _is_last(page):
                return
            if not page.items:
                await self._sleep(next_poll(time.monotonic() - began, seconds, job))

    async def wait(self, job: str, *, seconds: float | None = None) -> RewardsResource:
        """All outcomes, in the order of the items. Raises TimeoutError: the work goes on."""
        async for _ in self.outcomes(job, seconds=seconds):
            continue
        return await self.run(calls.rewards(job))

    def events(self, job: str) -> AsyncIterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._follow(calls.events(job), 0)


def _is_last(page: RewardItems) -> bool:
    return page.state in TERMINAL and not page.items
