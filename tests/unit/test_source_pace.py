"""The pace at a service: spacing, connections, pauses and a daily budget, over all processes that share the state."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.clock import SystemClock
from workers.outbound.priority_gate import Place
from workers.outbound.source_pace import Pace, PaceLimits, Pacer, Wait
from workers.outbound.store import InMemorySharedState

ONE = PaceLimits(spacing=1.0, connections=1, answer_within=30.0)
MANY = ONE._replace(connections=4)
NOON = 1_800_000_000.0 // 86_400 * 86_400 + 43_200


def taken(pace: Pace, ticket: str, now: float, limits: PaceLimits = ONE, process: str = "p", price: int = 1) -> bool:
    return pace.take(ticket, process, price, now, limits) is None


def wait(pace: Pace, now: float, limits: PaceLimits = ONE, process: str = "p", price: int = 1) -> Wait:
    told = pace.take("another", process, price, now, limits)
    assert told is not None
    return told


def test_spacing_counts_from_end_of_answer_with_single_connection() -> None:
    pace = Pace()
    assert taken(pace, "a", NOON)
    assert not taken(pace, "b", NOON + 5.0)
    pace.end_turn("a", 0.0, NOON + 5.0, ONE)
    assert wait(pace, NOON + 5.5).opening == pytest.approx(0.5)
    assert taken(pace, "b", NOON + 6.0)


def test_spacing_counts_from_send_time_with_several_connections() -> None:
    pace = Pace()
    assert [taken(pace, f"{n}", NOON + n, MANY) for n in range(5)] == [True] * 4 + [False]
    assert not taken(pace, "early", NOON + 3.5, MANY)
    pace.end_turn("2", 0.0, NOON + 4.0, MANY)
    assert taken(pace, "4", NOON + 4.0, MANY)


def test_same_ticket_is_granted_again_and_counted_once() -> None:
    pace = Pace()
    assert taken(pace, "a", NOON)
    assert taken(pace, "a", NOON)
    assert pace.spent == 1


def test_request_of_dead_process_expires() -> None:
    pace = Pace()
    taken(pace, "dead", NOON)
    assert not taken(pace, "b", NOON + 29.0)
    assert taken(pace, "b", NOON + 31.0)


def test_processes_alternate_and_absent_process_loses_its_place() -> None:
    pace = Pace()
    taken(pace, "a1", NOON, process="a")
    assert not taken(pace, "b1", NOON + 0.1, process="b")
    assert not taken(pace, "a2", NOON + 0.2, process="a")
    pace.end_turn("a1", 0.0, NOON + 0.3, ONE)
    assert not taken(pace, "a2", NOON + 1.4, process="a"), "b was first"
    assert taken(pace, "b1", NOON + 1.4, process="b")
    pace.end_turn("b1", 0.0, NOON + 1.5, ONE)
    assert not taken(pace, "c1", NOON + 1.6, process="c")
    assert taken(pace, "c1", NOON + 20.0, process="c"), "a has gone"


def test_pause_blocks_all_processes_and_is_never_shortened() -> None:
    pace = Pace()
    taken(pace, "a", NOON)
    pace.end_turn("a", 600.0, NOON, ONE)
    pace.end_turn("unknown", 5.0, NOON, ONE)
    told = wait(pace, NOON + 1.0, process="b")
    assert told.opening == pytest.approx(599.0)
    assert told.reason == "pause"
    assert taken(pace, "b", NOON + 600.0, process="b")


def test_daily_budget_is_spent_in_units_and_resets_at_midnight() -> None:
    pace, limits = Pace(), MANY._replace(spacing=0.0, daily_budget=25)
    assert taken(pace, "a", NOON, limits, price=10)
    assert taken(pace, "b", NOON, limits, price=10)
    told = wait(pace, NOON, limits, price=10)
    assert (told.opening, told.reason) == (43_200.0, "budget")
    assert taken(pace, "c", NOON, limits, price=5)
    assert taken(pace, "d", NOON + 43_200.0, limits, price=10)


STEPS = st.lists(st.tuples(st.sampled_from(["take", "end"]), st.integers(0, 3), st.floats(0, 3)), max_size=120)


@settings(deadline=None)
@given(STEPS, st.integers(1, 3))
def test_sends_always_respect_spacing_and_in_flight_limit(
    steps: list[tuple[str, int, float]], connections: int
) -> None:
    limits, pace, now = ONE._replace(connections=connections, answer_within=1_000.0), Pace(), NOON
    sent: list[float] = []
    flying: list[str] = []
    for number, (what, process, passed) in enumerate(steps):
        now += passed
        pace = Pace.from_json(pace.to_json())
        if what == "end" and flying:
            pace.end_turn(flying.pop(0), 0.0, now, limits)
        elif what == "take" and taken(pace, f"{number}", now, limits, f"{process}"):
            assert all(now - before >= limits.spacing for before in sent[-1:])
            sent.append(now)
            flying.append(f"{number}")
        assert len(flying) <= connections


async def test_pacers_of_two_processes_share_spacing_and_keep_caller_order() -> None:
    state, limits = InMemorySharedState(SystemClock()), ONE._replace(spacing=0.05)
    pacers = [Pacer(state, "k", limits) for _ in range(2)]
    sent: list[tuple[str, float]] = []
    loop = asyncio.get_running_loop()

    async def call(process: int, number: int) -> None:
        async with pacers[process].take_turn(Place(owner="o")):
            sent.append((f"{process}{number}", loop.time()))

    await asyncio.gather(*(call(process, number) for number in range(4) for process in range(2)))
    for pacer in pacers:
        await pacer.aclose()
    times = [time for _, time in sent]
    assert all(later - sooner >= 0.049 for sooner, later in pairwise(times))
    for process in "01":
        assert [name for name, _ in sent if name[0] == process] == [f"{process}{number}" for number in range(4)]
    assert {name for name, _ in sent[:4]} == {"00", "01", "10", "11"}


async def test_cancelled_waiter_passes_its_turn_to_the_next() -> None:
    pacer = Pacer(InMemorySharedState(SystemClock()), "k", ONE._replace(spacing=0.0))
    async with pacer.take_turn():
        waiting = [asyncio.create_task(pacer.take_turn().__aenter__()) for _ in range(2)]
        await asyncio.sleep(0.05)
        waiting[0].cancel()
    async with asyncio.timeout(10):
        await waiting[1]
    assert waiting[0].cancelled()
