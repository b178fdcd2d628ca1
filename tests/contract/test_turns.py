"""What every meeting place of processes must do: the in-memory twin and PostgreSQL alike."""

import asyncio

import pytest

from cluster.clock import SystemClock
from orchestrator.store import Database, PgTurns
from workers.remote.bucket import Granted, Later, Limits, News, Want
from workers.remote.turns import MemoryTurns, TurnKeeper, Turns

LIMITS = Limits(spacing=60.0, transit=0.0, connections=100, daily_budget=None, send_within=60.0, answer_within=60.0)


@pytest.fixture(params=["memory", "postgres"])
def turns(request: pytest.FixtureRequest) -> Turns:
    if request.param == "memory":
        return MemoryTurns(SystemClock())
    database: Database = request.getfixturevalue("database")
    return PgTurns(database)


def keeper(turns: Turns, limits: Limits = LIMITS) -> TurnKeeper:
    return TurnKeeper(turns, "bucket", limits, SystemClock())


async def test_look_at_an_unknown_bucket_is_empty_and_tells_the_time(turns: Turns) -> None:
    before = SystemClock().now().timestamp()

    shared = await turns.look("bucket")

    assert (shared.version, shared.text) == (0, "")
    assert abs(shared.now - before) < 600


async def test_swap_is_seen_by_the_next_look(turns: Turns) -> None:
    assert await turns.swap("bucket", 0, '{"spent": 1}')
    first = await turns.look("bucket")
    assert await turns.swap("bucket", first.version, '{"spent": 2}')

    second = await turns.look("bucket")

    assert first.text == '{"spent": 1}'
    assert second.text == '{"spent": 2}'
    assert second.version > first.version
    assert (await turns.look("other")).version == 0


async def test_swap_of_a_version_that_is_past_changes_nothing(turns: Turns) -> None:
    await turns.swap("bucket", 0, '{"spent": 1}')

    assert not await turns.swap("bucket", 0, '{"spent": 2}')
    assert not await turns.swap("bucket", 7, '{"spent": 2}')
    assert (await turns.look("bucket")).text == '{"spent": 1}'


async def test_exchange_by_many_at_once_grants_one_turn(turns: Turns) -> None:
    verdicts = await asyncio.gather(*(keeper(turns).exchange([], Want(f"c{n}", f"t{n}", 1)) for n in range(20)))

    assert sum(isinstance(verdict, Granted) for verdict in verdicts) == 1


async def test_exchange_with_news_and_a_want_heeds_the_news_first(turns: Turns) -> None:
    desk, clock = keeper(turns), SystemClock()
    assert await desk.exchange([], Want("a", "t1", 1)) == Granted("t1")

    told = await desk.exchange([News("sent", "t1", clock.monotonic())], Want("a", "t2", 1))

    assert isinstance(told, Later)
    assert 30 < told.opening <= 60
    assert await desk.exchange([], None) is None


async def test_exchange_counts_every_turn_of_the_budget_once(turns: Turns) -> None:
    limits = LIMITS._replace(spacing=0.0, daily_budget=10)

    async def spend(claimant: int) -> int:
        desk, clock, granted = keeper(turns, limits), SystemClock(), 0
        news: list[News] = []
        while True:
            ticket = f"{claimant}.{granted}"
            verdict = await desk.exchange(news, Want(str(claimant), ticket, 1))
            if isinstance(verdict, Later) and verdict.reason == "budget":
                return granted
            news = []
            if isinstance(verdict, Granted):
                granted += 1
                news = [News(kind, ticket, clock.monotonic()) for kind in ("sent", "answered")]

    assert sum(await asyncio.gather(*(spend(claimant) for claimant in range(4)))) == 10
