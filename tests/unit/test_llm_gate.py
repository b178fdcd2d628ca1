"""The gate: never more than the limit, first come first served, nothing lost to cancellation."""

import asyncio
import time

from workers.llm.concurrency import AdaptiveLimit
from workers.llm.gate import Gate


def _gate(limit: int) -> Gate:
    return Gate(AdaptiveLimit(limit, limit), time.monotonic)


async def _turns(count: int = 20) -> None:
    """Lets everything that can run, run."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_calls_pass_in_order_and_never_more_than_the_limit() -> None:
    gate = _gate(3)
    order: list[int] = []

    async def call(number: int) -> None:
        async with gate.passage():
            assert gate.in_flight <= 3
            order.append(number)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(call(number))
    assert order == list(range(50))
    assert gate.peak == 3
    assert gate.in_flight == 0


async def test_newcomer_does_not_overtake_those_who_wait() -> None:
    gate = _gate(1)
    order: list[str] = []

    async def call(name: str) -> None:
        async with gate.passage():
            order.append(name)

    async with asyncio.TaskGroup() as group:
        async with gate.passage():
            group.create_task(call("waiting"))
            await _turns()
        group.create_task(call("newcomer"))
    assert order == ["waiting", "newcomer"]


async def test_cancelled_waiter_gives_its_place_to_the_next() -> None:
    gate = _gate(1)

    async def call() -> None:
        async with gate.passage():
            pass

    async with gate.passage():
        first, second = asyncio.create_task(call()), asyncio.create_task(call())
        await _turns()
        first.cancel()
        await _turns()
    await second
    assert gate.in_flight == 0


async def test_waiter_cancelled_just_after_its_turn_came_gives_the_place_back() -> None:
    gate = _gate(1)

    async def call() -> None:
        async with gate.passage():
            pass

    async with gate.passage():
        waiting = asyncio.create_task(call())
        await _turns()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert gate.in_flight == 0
    await call()


async def test_pause_holds_everybody_back_until_it_is_over() -> None:
    gate = _gate(8)
    async with gate.passage() as passage:
        for _ in range(8):
            passage.turned_away(0.05)
    started = time.monotonic()
    async with gate.passage():
        assert time.monotonic() - started >= 0.04


async def test_urgent_call_passes_those_that_wait() -> None:
    gate = _gate(1)
    order: list[str] = []

    async def call(name: str, urgent: bool) -> None:
        async with gate.passage(urgent):
            order.append(name)

    async with asyncio.TaskGroup() as group, gate.passage():
        for name, urgent in (("batch 1", False), ("batch 2", False), ("urgent", True)):
            group.create_task(call(name, urgent))
        await _turns()
    assert order == ["urgent", "batch 1", "batch 2"]
