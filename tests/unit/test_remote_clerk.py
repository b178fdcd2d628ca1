"""The clerk: hands over what it was granted, and tells what became of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest

from assayer.errors import SourceBusy
from assayer.models.remote import SharedText
from tests.unit.twins import FixedClock
from workers.remote.bucket import Bucket, Limits, News, Want
from workers.remote.call import Ask, Call
from workers.remote.clerk import Clerk
from workers.remote.flight import Flight
from workers.remote.turn import Turn, TurnLapsed
from workers.remote.turns import MemoryTurns, TurnKeeper

LIMITS = Limits(spacing=0.0, transit=0.0, connections=1, daily_budget=100, send_within=6.0, answer_within=31.0)


class GatedTurns(MemoryTurns):
    """Lets nobody look before the gate is open."""

    def __init__(self) -> None:
        super().__init__(FixedClock())
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()

    async def look(self, bucket: str) -> SharedText:
        self.asked.set()
        await self.gate.wait()
        return await super().look(bucket)

    async def bucket(self) -> Bucket:
        return Bucket.read((await super().look("bucket")).text)


def a_clerk(turns: MemoryTurns, limits: Limits = LIMITS) -> Clerk:
    numbers = count()
    keeper = TurnKeeper(turns, "bucket", limits, FixedClock())
    return Clerk(keeper, "small", "me", lambda: f"ticket{next(numbers)}")


@asynccontextmanager
async def working(clerk: Clerk) -> AsyncIterator[None]:
    running = asyncio.create_task(clerk.run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await clerk.farewell()


def a_flight(price: int = 1, patience: float = 60.0) -> Flight:
    flight = Flight("key", Call("small", "search", "papers"), price, lambda: None)
    flight.board(Ask("ev", patience), 0.0)
    return flight


async def test_turn_that_was_asked_for_less_is_not_used_for_more() -> None:
    turns = GatedTurns()
    clerk = a_clerk(turns)
    async with working(clerk):
        cheap = asyncio.create_task(clerk.turn(a_flight(price=1), again=False))
        await turns.asked.wait()
        cheap.cancel()
        await asyncio.gather(cheap, return_exceptions=True)
        dear = asyncio.create_task(clerk.turn(a_flight(price=10), again=False))
        turns.gate.set()
        turn = await dear
        turn.check()
        turn.sent()
        turn.done()

    assert (await turns.bucket()).spent == 10


async def test_turn_that_nobody_wants_any_more_is_given_back() -> None:
    turns = GatedTurns()
    clerk = a_clerk(turns)
    async with working(clerk):
        waiting = asyncio.create_task(clerk.turn(a_flight(), again=False))
        await turns.asked.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        turns.gate.set()

    bucket = await turns.bucket()
    assert (bucket.pending, bucket.spent, bucket.queue) == (None, 0, [])


async def test_clerk_that_is_stopped_in_the_middle_of_asking_leaves_nothing_behind() -> None:
    turns = GatedTurns()
    clerk = a_clerk(turns)
    waiting = asyncio.create_task(clerk.turn(a_flight(), again=False))
    async with working(clerk):
        await turns.asked.wait()
        waiting.cancel()
        turns.gate.set()

    bucket = await turns.bucket()
    assert (bucket.pending, bucket.flying, bucket.spent, bucket.queue) == (None, {}, 0, [])


async def test_pause_beyond_the_patience_refuses_those_in_the_line_and_leaves_the_patient() -> None:
    turns = MemoryTurns(FixedClock())
    now = FixedClock().now().timestamp()
    bucket = Bucket()
    bucket.hear(News("pushed_back", "", now + 100), now, LIMITS)
    await turns.swap("bucket", 0, bucket.text())
    clerk = a_clerk(turns)
    hasty, patient = a_flight(patience=99.0), a_flight(patience=101.0)
    (seat,) = hasty
    async with working(clerk):
        waiting = [asyncio.create_task(clerk.turn(flight, again=False)) for flight in (hasty, patient)]
        with pytest.raises(SourceBusy, match="left alone for another 100 s"):
            await seat.answer

        assert len(list(patient)) == 1
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_granted_turn_asked_again_after_a_lost_reply_is_the_same() -> None:
    keeper = TurnKeeper(MemoryTurns(FixedClock()), "bucket", LIMITS, FixedClock())
    want = Want("me", "ticket", 1)

    assert await keeper.exchange([], want) == await keeper.exchange([], want)


def a_turn(news: list[News], until: float = 6.0) -> Turn:
    return Turn("t", until, FixedClock(), lambda _, one: news.append(one))


def test_turn_may_be_used_once() -> None:
    turn = a_turn([])
    turn.check()

    with pytest.raises(TurnLapsed):
        turn.check()


def test_turn_that_is_too_late_may_not_be_used_and_counts_as_unused() -> None:
    news: list[News] = []
    turn = a_turn(news, until=0.0)

    with pytest.raises(TurnLapsed):
        turn.check()
    turn.done()

    assert [one.kind for one in news] == ["unused"]


def test_turn_that_broke_off_after_the_check_counts_as_sent() -> None:
    news: list[News] = []
    turn = a_turn(news)

    turn.check()
    turn.done()

    assert [one.kind for one in news] == ["sent", "answered"]
