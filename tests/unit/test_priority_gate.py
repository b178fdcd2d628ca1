"""The gate: never more than there are slots, in order of priority, owners in turn, nothing lost to cancellation."""

import asyncio
import random
from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polling import let_tasks_run
from workers.outbound.priority_gate import FixedSlots, Place, PriorityGate


def make_gate(slots: int) -> PriorityGate[int]:
    return PriorityGate(FixedSlots(slots))


async def test_callers_enter_in_order_and_never_exceed_slot_count() -> None:
    gate = make_gate(3)
    order: list[int] = []
    inside: set[int] = set()

    async def call(number: int) -> None:
        async with gate.hold_slot(Place()) as slot:
            assert slot not in inside
            inside.add(slot)
            order.append(number)
            await asyncio.sleep(0)
            inside.remove(slot)

    async with asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(call(number))
    assert order == list(range(50))
    assert (len(gate), inside) == (0, set())


async def test_newcomer_does_not_overtake_waiting_caller() -> None:
    gate = make_gate(1)
    order: list[str] = []

    async def call(name: str) -> None:
        async with gate.hold_slot(Place()):
            order.append(name)

    async with asyncio.TaskGroup() as group:
        async with gate.hold_slot(Place()):
            group.create_task(call("waiting"))
            await let_tasks_run()
        group.create_task(call("newcomer"))
    assert order == ["waiting", "newcomer"]


async def test_lower_priority_number_enters_first_and_owners_alternate() -> None:
    gate = make_gate(1)
    order: list[str] = []

    async def call(name: str, priority: int) -> None:
        async with gate.hold_slot(Place(priority, name[0])):
            order.append(name)

    async with asyncio.TaskGroup() as group, gate.hold_slot(Place()):
        for name, priority in (("a1", 1), ("a2", 1), ("a3", 1), ("b1", 1), ("c1", 0), ("b2", 1)):
            group.create_task(call(name, priority))
        await let_tasks_run()
    assert order == ["c1", "a1", "b1", "a2", "b2", "a3"]


async def test_prioritised_place_enters_first_and_shared_place_uses_shortest_owner_queue() -> None:
    gate = make_gate(1)
    order: list[str] = []
    places = {name: Place[int](1, name[0]) for name in ("a1", "a2", "a3", "a4", "b1", "c1")}

    async def call(name: str) -> None:
        async with gate.hold_slot(places[name]):
            order.append(name)

    async with asyncio.TaskGroup() as group, gate.hold_slot(Place()):
        for name in places:
            group.create_task(call(name))
        await let_tasks_run()
        assert [gate.count_ahead(Place(1, owner)) for owner in "abcd"] == [6, 4, 4, 3]
        places["a4"].add_owner("d")
        places["c1"].prioritise(0)
        assert len(gate) == 6
    assert order == ["c1", "a1", "b1", "a4", "a2", "a3"]


class Servers:
    """Slots that become free again by themselves after a time."""

    def __init__(self, *free: str) -> None:
        self.free = list(free)
        self.free_again_at: float | None = None
        self.failure: Exception | None = None

    def acquire(self, avoid: Collection[str]) -> str | None:
        if self.failure is not None:
            raise self.failure
        slot = next((item for item in self.free if item not in avoid), None)
        if slot is not None:
            self.free.remove(slot)
        elif self.free_again_at is not None and asyncio.get_running_loop().time() >= self.free_again_at:
            self.free_again_at = None
            return "late"
        return slot

    def release(self, slot: str) -> None:
        self.free.append(slot)

    def get_seconds_to_change(self) -> float | None:
        return None if self.free_again_at is None else self.free_again_at - asyncio.get_running_loop().time()


async def test_slot_freed_by_its_source_later_is_assigned_to_waiter() -> None:
    servers = Servers()
    gate = PriorityGate(servers)
    loop = asyncio.get_running_loop()
    servers.free_again_at = loop.time() + 0.02
    assert await gate.acquire(Place()) == "late"


async def test_excluded_slot_is_skipped_without_losing_queue_position() -> None:
    servers = Servers("one")
    gate = PriorityGate(servers)
    picky = asyncio.create_task(gate.acquire(Place(avoid=["one"])))
    await let_tasks_run()
    second_waiter = asyncio.create_task(gate.acquire(Place()))
    await let_tasks_run()
    assert not second_waiter.done()
    gate.release("two")
    assert [await picky, await second_waiter] == ["two", "one"]


async def test_slot_source_error_reaches_all_waiters() -> None:
    servers = Servers()
    gate = PriorityGate(servers)
    tasks = [asyncio.create_task(gate.acquire(Place())) for _ in range(3)]
    await let_tasks_run()
    servers.failure = OSError("no server is up")
    gate.admit()
    for task in tasks:
        with pytest.raises(OSError, match="no server is up"):
            await task
    assert len(gate) == 0


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32))
def test_all_slots_are_released_and_no_waiter_is_lost_after_cancellations(slots: int, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - chance in a test

    async def cancel_at_random() -> None:
        gate, inside = make_gate(slots), 0

        async def call() -> None:
            nonlocal inside
            async with gate.hold_slot(Place(rng.randrange(3), rng.choice("abc"))):
                inside += 1
                assert inside <= slots
                try:
                    await let_tasks_run(rng.randrange(5))
                finally:
                    inside -= 1

        tasks = []
        for _ in range(rng.randrange(1, 20)):
            tasks.append(asyncio.create_task(call()))
            await let_tasks_run(rng.randrange(3))
            if rng.random() < 0.4:
                rng.choice(tasks).cancel()
        async with asyncio.timeout(10):
            results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(result is None or isinstance(result, asyncio.CancelledError) for result in results)
        assert (len(gate), inside) == (0, 0)
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:  # all slots are there again
            for _ in range(slots):
                group.create_task(gate.acquire(Place()))

    asyncio.run(cancel_at_random())
