"""Where a trainer's rewards come from: a judge behind the service, or anything of the same shape."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import NamedTuple, Protocol

import httpx2

from assayer_client.async_client import AsyncClient
from assayer_client.errors import ClientError
from assayer_client.rewards import RewardItemBody, RewardsBody
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder

__all__ = ["GatheredRewards", "RewardQuery", "RewardSource", "ServiceRewards", "Unjudged", "rewards_of_environment"]

_MOST_ITEMS = 1_000
"""Of one request; the service takes no more."""


class RewardQuery(NamedTuple):
    """What is judged: an idea for a research question, against the abstract of a reference."""

    question: str
    idea: str
    abstract: str


class RewardSource(Protocol):
    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        """One an item, in their order; None where the judge came to no verdict. `judge` is a composition's name, or
        None for the source's own."""
        ...


class Unjudged(ClientError):
    """The judge came to no verdict, and a trainer that knows no missing rewards asked for one."""

    reason = "there is no reward"


class ServiceRewards:
    """Of an assayer service. Requests are sent again under the policy of the client; when that is spent, and where the
    service refuses, the error reaches the trainer: steps without any judge would teach nothing."""

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
        """Without `url` and `key` those of ASSAYER_API_URL and ASSAYER_API_KEY; `seconds` is how long a group is waited
        for; what has no verdict by then is not judged any more. Raises ConfigurationError."""
        RequestBuilder.of(url, key, timeouts or Timeouts())  # now, and not in the trainer's first step
        self._client = partial(
            AsyncClient, url, key, retries=retries, timeouts=timeouts, transport=transport, sleep=sleep
        )
        self._seconds = seconds

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        """Raises ApiProblem and ServiceUnreachable. A connection is opened for every call, as trainers come with event
        loops of their own."""
        found: list[float | None] = []
        async with self._client() as client:
            for start in range(0, len(items), _MOST_ITEMS):
                found += await self._part(client, items[start : start + _MOST_ITEMS], judge)
        return found

    async def _part(self, client: AsyncClient, items: Sequence[RewardQuery], judge: str | None) -> list[float | None]:
        asked = tuple(RewardItemBody(**one._asdict()) for one in items)
        job = (await client.rewards.submit(RewardsBody(items=asked, judge=judge))).id
        try:
            return (await client.rewards.wait(job, seconds=self._seconds)).values()
        except TimeoutError:  # nobody would read what comes later
            return (await client.rewards.cancel(job)).values()


class GatheredRewards:
    """Asks in one request what is asked at about the same time: for trainers that score completions one by one."""

    def __init__(self, source: RewardSource, *, pause: float = 0.05) -> None:
        """`pause`: seconds for which the first of a group waits for others."""
        self._source, self._pause = source, pause
        self._open: dict[tuple[asyncio.AbstractEventLoop, str | None], _Gathering] = {}

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        place = (asyncio.get_running_loop(), judge)
        gathering = self._open.get(place)
        if gathering is None or len(gathering.items) + len(items) > _MOST_ITEMS:
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
    """Of the service at ASSAYER_API_URL, for trainers that load a function by its path. Raises ConfigurationError."""
    return GatheredRewards(ServiceRewards())
