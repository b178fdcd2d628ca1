"""What every meeting place of processes must do: the in-memory twin and PostgreSQL alike."""

import asyncio

import pytest

from cluster.clock import SystemClock
from orchestrator.store import Database, PgRateLimits
from workers.remote.rate_limit import (
    InMemoryRateLimitStore,
    RateLimits,
    RateLimitStore,
    SharedRateLimit,
    TurnDeferred,
    TurnEvent,
    TurnGranted,
    TurnRequest,
)

LIMITS = RateLimits(spacing=60.0, transit=0.0, connections=100, daily_budget=None, send_within=60.0, answer_within=60.0)


@pytest.fixture(params=["memory", "postgres"])
def turns(request: pytest.FixtureRequest) -> RateLimitStore:
    if request.param == "memory":
        return InMemoryRateLimitStore(SystemClock())
    database: Database = request.getfixturevalue("database")
    return PgRateLimits(database)


def keeper(turns: RateLimitStore, limits: RateLimits = LIMITS) -> SharedRateLimit:
    return SharedRateLimit(turns, "bucket", limits, SystemClock())


async def test_look_at_an_unknown_bucket_is_empty_and_tells_the_time(turns: RateLimitStore) -> None:
    before = SystemClock().now().timestamp()

    shared = await turns.read("bucket")

    assert (shared.version, shared.text) == (0, "")
    assert abs(shared.now - before) < 600


async def test_swap_is_seen_by_the_next_look(turns: RateLimitStore) -> None:
    assert await turns.compare_and_swap("bucket", 0, '{"spent": 1}')
    first = await turns.read("bucket")
    assert await turns.compare_and_swap("bucket", first.version, '{"spent": 2}')

    second = await turns.read("bucket")

    assert first.text == '{"spent": 1}'
    assert second.text == '{"spent": 2}'
    assert second.version > first.version
    assert (await turns.read("other")).version == 0


async def test_swap_of_a_version_that_is_past_changes_nothing(turns: RateLimitStore) -> None:
    await turns.compare_and_swap("bucket", 0, '{"spent": 1}')

    assert not await turns.compare_and_swap("bucket", 0, '{"spent": 2}')
    assert not await turns.compare_and_swap("bucket", 7, '{"spent": 2}')
    assert (await turns.read("bucket")).text == '{"spent": 1}'


async def test_exchange_by_many_at_once_grants_one_turn(turns: RateLimitStore) -> None:
    verdicts = await asyncio.gather(*(keeper(turns).exchange([], TurnRequest(f"c{n}", f"t{n}", 1)) for n in range(20)))

    assert sum(isinstance(verdict, TurnGranted) for verdict in verdicts) == 1


async def test_exchange_with_news_and_a_want_heeds_the_news_first(turns: RateLimitStore) -> None:
    desk, clock = keeper(turns), SystemClock()
    assert await desk.exchange([], TurnRequest("a", "t1", 1)) == TurnGranted("t1")

    told = await desk.exchange([TurnEvent("sent", "t1", clock.monotonic())], TurnRequest("a", "t2", 1))

    assert isinstance(told, TurnDeferred)
    assert 30 < told.opening <= 60
    assert await desk.exchange([], None) is None


async def test_exchange_counts_every_turn_of_the_budget_once(turns: RateLimitStore) -> None:
    limits = LIMITS._replace(spacing=0.0, daily_budget=10)

    async def spend(claimant: int) -> int:
        desk, clock, granted = keeper(turns, limits), SystemClock(), 0
        news: list[TurnEvent] = []
        while True:
            ticket = f"{claimant}.{granted}"
            verdict = await desk.exchange(news, TurnRequest(str(claimant), ticket, 1))
            if isinstance(verdict, TurnDeferred) and verdict.reason == "budget":
                return granted
            news = []
            if isinstance(verdict, TurnGranted):
                granted += 1
                news = [TurnEvent(kind, ticket, clock.monotonic()) for kind in ("sent", "answered")]

    assert sum(await asyncio.gather(*(spend(claimant) for claimant in range(4)))) == 10
