"""The turn scheduler: hands over what it was granted, and publishes what became of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest

from assayer.errors import SourceBusy
from assayer.models.remote import VersionedText
from tests.unit.twins import FixedClock
from workers.concurrency.single_flight import InFlight
from workers.remote.rate_limit import (
    InMemoryRateLimitStore,
    RateBucket,
    RateLimits,
    SharedRateLimit,
    TurnEvent,
    TurnRequest,
)
from workers.remote.request import RequestContext, RequestWaiter
from workers.remote.turn_scheduler import PermitExpired, SendPermit, TurnScheduler

LIMITS = RateLimits(spacing=0.0, transit=0.0, connections=1, daily_budget=100, send_within=6.0, answer_within=31.0)


class GatedStore(InMemoryRateLimitStore):
    """Lets nobody look before the gate is open."""

    def __init__(self) -> None:
        super().__init__(FixedClock())
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()

    async def read(self, bucket: str) -> VersionedText:
        self.asked.set()
        await self.gate.wait()
        return await super().read(bucket)

    async def bucket(self) -> RateBucket:
        return RateBucket.from_json((await super().read("bucket")).text)


def a_scheduler(store: InMemoryRateLimitStore, limits: RateLimits = LIMITS) -> TurnScheduler:
    numbers = count()
    rate_limit = SharedRateLimit(store, "bucket", limits, FixedClock())
    return TurnScheduler(rate_limit, "small", "me", lambda: f"ticket{next(numbers)}")


@asynccontextmanager
async def working(scheduler: TurnScheduler) -> AsyncIterator[None]:
    running = asyncio.create_task(scheduler.run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await scheduler.aclose()


def a_call(price: int = 1, patience: float = 60.0) -> InFlight[RequestWaiter]:
    waiter = RequestWaiter(RequestContext("ev", patience), price, 0.0)
    waiter.call = InFlight("key", waiter)
    waiter.call.add(waiter)
    return waiter.call


async def test_turn_that_was_asked_for_less_is_not_used_for_more() -> None:
    store = GatedStore()
    scheduler = a_scheduler(store)
    async with working(scheduler):
        cheap = asyncio.create_task(scheduler.permit(a_call(price=1), again=False))
        await store.asked.wait()
        cheap.cancel()
        await asyncio.gather(cheap, return_exceptions=True)
        dear = asyncio.create_task(scheduler.permit(a_call(price=10), again=False))
        store.gate.set()
        permit = await dear
        permit.check()
        permit.sent()
        permit.done()

    assert (await store.bucket()).spent == 10


async def test_turn_that_nobody_wants_any_more_is_given_back() -> None:
    store = GatedStore()
    scheduler = a_scheduler(store)
    async with working(scheduler):
        waiting = asyncio.create_task(scheduler.permit(a_call(), again=False))
        await store.asked.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        store.gate.set()

    bucket = await store.bucket()
    assert (bucket.pending, bucket.spent, bucket.queue) == (None, 0, [])


async def test_scheduler_that_is_stopped_in_the_middle_of_asking_leaves_nothing_behind() -> None:
    store = GatedStore()
    scheduler = a_scheduler(store)
    waiting = asyncio.create_task(scheduler.permit(a_call(), again=False))
    async with working(scheduler):
        await store.asked.wait()
        waiting.cancel()
        store.gate.set()

    bucket = await store.bucket()
    assert (bucket.pending, bucket.flying, bucket.spent, bucket.queue) == (None, {}, 0, [])


async def test_pause_beyond_the_patience_refuses_those_in_the_queue_and_leaves_the_patient() -> None:
    store = InMemoryRateLimitStore(FixedClock())
    now = FixedClock().now().timestamp()
    bucket = RateBucket()
    bucket.apply(TurnEvent("pushed_back", "", now + 100), now, LIMITS)
    await store.compare_and_swap("bucket", 0, bucket.to_json())
    scheduler = a_scheduler(store)
    hasty, patient = a_call(patience=99.0), a_call(patience=101.0)
    (waiter,) = hasty
    async with working(scheduler):
        waiting = [asyncio.create_task(scheduler.permit(call, again=False)) for call in (hasty, patient)]
        with pytest.raises(SourceBusy, match="left alone for another 100 s"):
            await waiter.result

        assert len(list(patient)) == 1
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_granted_turn_asked_again_after_a_lost_reply_is_the_same() -> None:
    rate_limit = SharedRateLimit(InMemoryRateLimitStore(FixedClock()), "bucket", LIMITS, FixedClock())
    request = TurnRequest("me", "ticket", 1)

    assert await rate_limit.exchange([], request) == await rate_limit.exchange([], request)


def a_permit(events: list[TurnEvent], until: float = 6.0) -> SendPermit:
    return SendPermit("t", until, FixedClock(), lambda _, one: events.append(one))


def test_turn_may_be_used_once() -> None:
    permit = a_permit([])
    permit.check()

    with pytest.raises(PermitExpired):
        permit.check()


def test_turn_that_is_too_late_may_not_be_used_and_counts_as_unused() -> None:
    events: list[TurnEvent] = []
    permit = a_permit(events, until=0.0)

    with pytest.raises(PermitExpired):
        permit.check()
    permit.done()

    assert [one.kind for one in events] == ["unused"]


def test_turn_that_broke_off_after_the_check_counts_as_sent() -> None:
    events: list[TurnEvent] = []
    permit = a_permit(events)

    permit.check()
    permit.done()

    assert [one.kind for one in events] == ["sent", "answered"]
