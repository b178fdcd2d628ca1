"""Single-flight: one piece of work for all who ask, whoever of them is cancelled or fails."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polling import let_tasks_run
from workers.outbound.single_flight import InFlight, SingleFlight, Waiter

Flights = SingleFlight[str, Waiter[int]]


class CountedWork:
    """Work that counts its starts, and returns their number once it may end."""

    def __init__(self, *failures: BaseException) -> None:
        self.starts = self.cancelled = 0
        self.open = asyncio.Event()
        self._failures = list(failures)

    async def __call__(self, _: object = None) -> int:
        self.starts += 1
        number = self.starts
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._failures:
            self.open.clear()
            raise self._failures.pop(0)
        return number


async def join_and_wait(
    flights: Flights, work: Callable[[InFlight[Any]], Coroutine[Any, Any, int]]
) -> tuple[int, bool, bool]:
    waiter = Waiter[int]()
    flights.join("key", waiter, work)
    try:
        return await waiter.result, waiter.has_joined, waiter.is_first
    finally:
        flights.leave(waiter)


async def test_shared_work_runs_once_and_first_remaining_waiter_is_identified() -> None:
    flights, work = Flights(), CountedWork()
    first, second, third = [asyncio.create_task(join_and_wait(flights, work)) for _ in range(3)]
    await let_tasks_run()
    first.cancel()
    await let_tasks_run()
    work.open.set()
    assert [await second, await third] == [(1, True, True), (1, True, False)]
    assert (work.starts, work.cancelled, len(flights)) == (1, 0, 0)


async def test_work_is_cancelled_when_last_waiter_leaves_and_restarted_later() -> None:
    flights, work = Flights(), CountedWork()
    tasks = [asyncio.create_task(join_and_wait(flights, work)) for _ in range(2)]
    await let_tasks_run()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert len(flights) == 0
    work.open.set()
    assert await join_and_wait(flights, work) == (2, False, True)
    assert (work.starts, work.cancelled) == (2, 1)


async def test_detached_work_survives_cancellation_of_all_waiters() -> None:
    flights, work = Flights(), CountedWork()

    async def run_detached(call: InFlight[Any]) -> int:
        call.is_detached = True
        return await work()

    waiter = asyncio.create_task(join_and_wait(flights, run_detached))
    await let_tasks_run()
    waiter.cancel()
    await asyncio.wait([waiter])
    late = asyncio.create_task(join_and_wait(flights, run_detached))
    await let_tasks_run()
    work.open.set()
    assert await late == (1, True, True)
    assert (work.starts, work.cancelled) == (1, 0)


async def test_failure_reaches_every_waiter_as_a_copy_and_is_not_cached() -> None:
    flights, work = Flights(), CountedWork(OSError("gone"))
    tasks = [asyncio.create_task(join_and_wait(flights, work)) for _ in range(3)]
    await let_tasks_run()
    work.open.set()
    errors = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(error) for error in errors] == ["gone"] * 3
    assert len({id(error) for error in errors}) == 3
    work.open.set()
    assert await join_and_wait(flights, work) == (2, False, True)


async def test_rejecting_a_waiter_does_not_affect_others() -> None:
    flights, work = Flights(), CountedWork()
    waiter = Waiter[int]()
    flights.join("key", waiter, work)
    second_waiter = asyncio.create_task(join_and_wait(flights, work))
    await let_tasks_run()
    waiter.refuse(OSError("out of patience"))
    with pytest.raises(OSError, match="out of patience"):
        await waiter.result
    flights.leave(waiter)
    work.open.set()
    assert await second_waiter == (1, True, True)


@pytest.mark.parametrize("error", [None, OSError("stopping")])
async def test_closing_cancels_work_and_notifies_waiters(error: OSError | None) -> None:
    flights, work = Flights(), CountedWork()
    tasks = [asyncio.create_task(join_and_wait(flights, work)) for _ in range(2)]
    await let_tasks_run()
    await flights.aclose(error)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [OSError if error else asyncio.CancelledError] * 2
    assert (work.cancelled, len(flights)) == (1, 0)


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_every_waiter_not_cancelled_gets_a_result_or_error(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - chance in a test

    async def cancel_at_random() -> None:
        flights = Flights()
        running = max_running = 0

        async def work(_: object = None) -> int:
            nonlocal running, max_running
            running += 1
            max_running = max(max_running, running)
            try:
                await let_tasks_run(rng.randrange(4))
                if rng.random() < 0.3:
                    raise OSError("by chance")
                return 7
            finally:
                running -= 1

        async def ask() -> int:
            return (await join_and_wait(flights, work))[0]

        tasks = []
        for _ in range(rng.randrange(1, 12)):
            tasks.append(asyncio.create_task(ask()))
            await let_tasks_run(rng.randrange(3))
            if rng.random() < 0.4:
                rng.choice(tasks).cancel()
        async with asyncio.timeout(10):
            results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(result == 7 or isinstance(result, OSError | asyncio.CancelledError) for result in results)
        # Work that is cancelled may overlap the work that is begun after it for a moment.
        assert max_running <= 2
        assert len(flights) == 0

    asyncio.run(cancel_at_random())
