"""Sources of rewards for trainers: the service, or any object with the same interface."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import NamedTuple, Protocol

import httpx2

from assayer_client.async_client import AsyncClient
from assayer_client.errors import ClientError
from assayer_client.item_jobs import MAX_ITEMS
from assayer_client.rewards import RewardItemBody, RewardsBody
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder


class RewardQuery(NamedTuple):
    """Idea to judge, with its research question and the abstract of the reference with which it is compared."""

    question: str
    idea: str
    abstract: str


class RewardSource(Protocol):
    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        """Return one reward per item, in order; None for an item without a verdict. `judge` is a judge's name; None
        means the source's default."""
        ...


class Unjudged(ClientError):
    """Error for a missing verdict, raised for trainers that do not support missing rewards."""

    reason = "there is no reward"


class ServiceRewards:
    """Reward source that uses an assayer service. Requests are retried under the client's retry policy. If the retries
    fail or the service rejects the request, the trainer gets the error, because training without rewards would be
    useless."""

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
        for a group of items, after which those without a verdict are no longer judged. Raises ConfigurationError if URL
        or key is missing or invalid."""
        RequestBuilder.create(url, key, timeouts or Timeouts())  # raises configuration errors before training starts
        self._client = partial(
            AsyncClient, url, key, retries=retries, timeouts=timeouts, transport=transport, sleep=sleep
        )
        self._seconds = seconds

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        """Return the items' rewards. Opens a new connection for every call, because a trainer may call from different
        event loops. Raises ApiProblem or ServiceUnreachable if the request fails."""
        values: list[float | None] = []
        async with self._client() as client:
            for start in range(0, len(items), MAX_ITEMS):
                values += await self._judge_chunk(client, items[start : start + MAX_ITEMS], judge)
        return values

    async def _judge_chunk(
        self, client: AsyncClient, items: Sequence[RewardQuery], judge: str | None
    ) -> list[float | None]:
        bodies = tuple(RewardItemBody(**query._asdict()) for query in items)
        job = (await client.rewards.create(RewardsBody(items=bodies, judge=judge))).id
        try:
            return (await client.rewards.wait(job, seconds=self._seconds)).values()
        except TimeoutError:  # later rewards would not be used
            return (await client.rewards.cancel(job)).values()


class GatheredRewards:
    """Reward source that combines concurrent queries into one request, for trainers that score completions one by
    one."""

    def __init__(self, source: RewardSource, *, pause: float = 0.05) -> None:
        """Combine queries to `source`. The first query in a group waits `pause` seconds for others."""
        self._source, self._pause = source, pause
        self._open: dict[tuple[asyncio.AbstractEventLoop, str | None], _Group] = {}

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        key = (asyncio.get_running_loop(), judge)
        group = self._open.get(key)
        if group is None or len(group.items) + len(items) > MAX_ITEMS:
            group = self._open[key] = _Group()
            group.answer = asyncio.ensure_future(self._send(key, group))
        first = len(group.items)
        group.items += items
        # If one caller is cancelled, the others still get their rewards.
        values = await asyncio.shield(group.answer)
        return values[first : first + len(items)]

    async def _send(self, key: "tuple[asyncio.AbstractEventLoop, str | None]", group: "_Group") -> list[float | None]:
        try:
            await asyncio.sleep(self._pause)
        finally:
            if self._open.get(key) is group:
                del self._open[key]
        return await self._source.rewards(group.items, key[1])


class _Group:
    def __init__(self) -> None:
        self.items: list[RewardQuery] = []
        self.answer: asyncio.Future[list[float | None]]


@cache
def get_default_reward_source() -> RewardSource:
    """Return the reward source for the service at ASSAYER_API_URL, for trainers that load a function by its import
    path. Raises ConfigurationError if URL or key is missing."""
    return GatheredRewards(ServiceRewards())
