"""Reward sources for trainers: a judge behind the service, or any object with the same interface."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import NamedTuple, Protocol

import httpx2

from assayer_client.async_client import AsyncClient
from assayer_client.errors import ClientError
from assayer_client.item_jobs import MOST_ITEMS
from assayer_client.rewards import RewardItemBody, RewardsBody
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder

__all__ = ["GatheredRewards", "RewardQuery", "RewardSource", "ServiceRewards", "Unjudged", "rewards_of_environment"]


class RewardQuery(NamedTuple):
    """Item to judge: an idea for a research question, with the abstract of the reference that it is compared with."""

    question: str
    idea: str
    abstract: str


class RewardSource(Protocol):
    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        """Return one reward per item, in order; None if the judge reached no verdict. `judge` is a
        composition's name, or None for the source's default."""
        ...


class Unjudged(ClientError):
    """Error for a missing verdict, raised to trainers that do not support missing rewards."""

    reason = "there is no reward"


class ServiceRewards:
    """Reward source backed by an assayer service. Requests are retried under the client's retry policy; if retries are
    exhausted or the service refuses, the error is passed on to the trainer, because training steps without a judge
    would teach nothing."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        seconds: float = 1_800,
        retries: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Create a source; `url` and `key` default to ASSAYER_API_URL and ASSAYER_API_KEY. `seconds` limits the wait
        for a group of items; those without a verdict by then are no longer judged. Raises ConfigurationError."""
        RequestBuilder.of(url, key, timeouts or Timeouts())  # now, and not in the trainer's first step
        self._client = partial(
            AsyncClient, url, key, retries=retries, timeouts=timeouts, transport=transport, sleep=sleep
        )
        self._seconds = seconds

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        """Return the rewards of the items. Raises ApiProblem and ServiceUnreachable. A connection is opened for every
        call, because trainers use event loops of their own."""
        values: list[float | None] = []
        async with self._client() as client:
            for start in range(0, len(items), MOST_ITEMS):
                values += await self._part(client, items[start : start + MOST_ITEMS], judge)
        return values

    async def _part(self, client: AsyncClient, items: Sequence[RewardQuery], judge: str | None) -> list[float | None]:
        asked = tuple(RewardItemBody(**item._asdict()) for item in items)
        job = (await client.rewards.create(RewardsBody(items=asked, judge=judge))).id
        try:
            return (await client.rewards.wait(job, seconds=self._seconds)).values()
        except TimeoutError:  # nobody would read what comes later
            return (await client.rewards.cancel(job)).values()


class GatheredRewards:
    """Reward source that combines concurrent queries into one request, for trainers that score completions one by
    one."""

    def __init__(self, source: RewardSource, *, pause: float = 0.05) -> None:
        """Combine queries to a source; `pause` is the time in seconds that the first query of a group waits for
        others."""
        self._source, self._pause = source, pause
        self._open: dict[tuple[asyncio.AbstractEventLoop, str | None], _Gathering] = {}

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        place = (asyncio.get_running_loop(), judge)
        gathering = self._open.get(place)
        if gathering is None or len(gathering.items) + len(items) > MOST_ITEMS:
            gathering = self._open[place] = _Gathering()
            gathering.answer = asyncio.ensure_future(self._asked(place, gathering))
        first = len(gathering.items)
        gathering.items += items
        # One who gives up waiting takes nothing from the others.
        values = await asyncio.shield(gathering.answer)
        return values[first : first + len(items)]

    async def _asked(
        self, place: "tuple[asyncio.AbstractEventLoop, str | None]", gathering: "_Gathering"
    ) -> list[float | None]:
        try:
            await asyncio.sleep(self._pause)
        finally:
            if self._open.get(place) is gathering:
                del self._open[place]
        return await self._source.rewards(gathering.items, place[1])


class _Gathering:
    def __init__(self) -> None:
        self.items: list[RewardQuery] = []
        self.answer: asyncio.Future[list[float | None]]


@cache
def rewards_of_environment() -> RewardSource:
    """Return the reward source for the service at ASSAYER_API_URL, for trainers that load a function by its import
    path. Raises ConfigurationError."""
    return GatheredRewards(ServiceRewards())
