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

ONE_CONNECTION = PaceLimits(spacing=1.0, connections=1, answer_within=30.0)
FOUR_CONNECTIONS = ONE_CONNECTION._replace(connections=4)
NOON = 1_800_000_000.0 // 86_400 * 86_400 + 43_200


def may_send(
    pace: Pace, ticket: str, now: float, limits: PaceLimits = ONE_CONNECTION, process: str = "p", price: int = 1
) -> bool:
    return pace.take(ticket, process, price, now, limits) is None


def get_wait(pace: Pace, now: float, limits: PaceLimits = ONE_CONNECTION, process: str = "p", price: int = 1) -> Wait:
    answer = pace.take("another", process, price, now, limits)
    assert answer is not None
    return answer


def test_spacing_counts_from_end_of_answer_with_single_connection() -> None:
    pace = Pace()
    assert may_send(pace, "a", NOON)
    assert not may_send(pace, "b", NOON + 5.0)
    pace.end_turn("a", 0.0, NOON + 5.0, ONE_CONNECTION)
    assert get_wait(pace, NOON + 5.5).opening == pytest.approx(0.5)
    assert may_send(pace, "b", NOON + 6.0)


def test_spacing_counts_from_send_time_with_several_connections() -> None:
    pace = Pace()
    assert [may_send(pace, f"{n}", NOON + n, FOUR_CONNECTIONS) for n in range(5)] == [True] * 4 + [False]
    assert not may_send(pace, "early", NOON + 3.5, FOUR_CONNECTIONS)
    pace.end_turn("2", 0.0, NOON + 4.0, FOUR_CONNECTIONS)
    assert may_send(pace, "4", NOON + 4.0, FOUR_CONNECTIONS)


def test_same_ticket_is_granted_again_and_counted_once() -> None:
    pace = Pace()
    assert may_send(pace, "a", NOON)
    assert may_send(pace, "a", NOON)
    assert pace.spent == 1


def test_request_of_dead_process_expires() -> None:
    pace = Pace()
    may_send(pace, "dead", NOON)
    assert not may_send(pace, "b", NOON + 29.0)
    assert may_send(pace, "b", NOON + 31.0)


def test_processes_alternate_and_absent_process_loses_its_place() -> None:
    pace = Pace()
    may_send(pace, "a1", NOON, process="a")
    assert not may_send(pace, "b1", NOON + 0.1, process="b")
    assert not may_send(pace, "a2", NOON + 0.2, process="a")
    pace.end_turn("a1", 0.0, NOON + 0.3, ONE_CONNECTION)
    assert not may_send(pace, "a2", NOON + 1.4, process="a"), "b was first"
    assert may_send(pace, "b1", NOON + 1.4, process="b")
    pace.end_turn("b1", 0.0, NOON + 1.5, ONE_CONNECTION)
    assert not may_send(pace, "c1", NOON + 1.6, process="c")
    assert may_send(pace, "c1", NOON + 20.0, process="c"), "a has gone"


def test_pause_blocks_all_processes_and_is_never_shortened() -> None:
    pace = Pace()
    may_send(pace, "a", NOON)
    pace.end_turn("a", 600.0, NOON, ONE_CONNECTION)
    pace.end_turn("unknown", 5.0, NOON, ONE_CONNECTION)
    answer = get_wait(pace, NOON + 1.0, process="b")
    assert answer.opening == pytest.approx(599.0)
    assert answer.reason == "pause"
    assert may_send(pace, "b", NOON + 600.0, process="b")


def test_daily_budget_is_spent_in_units_and_resets_at_midnight() -> None:
    pace, limits = Pace(), FOUR_CONNECTIONS._replace(spacing=0.0, daily_budget=25)
    assert may_send(pace, "a", NOON, limits, price=10)
    assert may_send(pace, "b", NOON, limits, price=10)
    answer = get_wait(pace, NOON, limits, price=10)
    assert (answer.opening, answer.reason) == (43_200.0, "budget")
    assert may_send(pace, "c", NOON, limits, price=5)
    assert may_send(pace, "d", NOON + 43_200.0, limits, price=10)


STEPS = st.lists(st.tuples(st.sampled_from(["take", "end"]), st.integers(0, 3), st.floats(0, 3)), max_size=120)


@settings(deadline=None)
@given(STEPS, st.integers(1, 3))
def test_sends_always_respect_spacing_and_in_flight_limit(
    steps: list[tuple[str, int, float]], connections: int
) -> None:
    limits, pace, now = ONE_CONNECTION._replace(connections=connections, answer_within=1_000.0), Pace(), NOON
    sent_at: list[float] = []
    in_flight: list[str] = []
    for number, (action, process, seconds_passed) in enumerate(steps):
        now += seconds_passed
        pace = Pace.from_json(pace.to_json())
        if action == "end" and in_flight:
            pace.end_turn(in_flight.pop(0), 0.0, now, limits)
        elif action == "take" and may_send(pace, f"{number}", now, limits, f"{process}"):
            assert all(now - before >= limits.spacing for before in sent_at[-1:])
            sent_at.append(now)
            in_flight.append(f"{number}")
        assert len(in_flight) <= connections


async def test_pacers_of_two_processes_share_spacing_and_keep_caller_order() -> None:
    state, limits = InMemorySharedState(SystemClock()), ONE_CONNECTION._replace(spacing=0.05)
    pacers = [Pacer(state, "k", limits) for _ in range(2)]
    sent_requests: list[tuple[str, float]] = []
    loop = asyncio.get_running_loop()

    async def call(process: int, number: int) -> None:
        async with pacers[process].take_turn(Place(owner="o")):
            sent_requests.append((f"{process}{number}", loop.time()))

    await asyncio.gather(*(call(process, number) for number in range(4) for process in range(2)))
    for pacer in pacers:
        await pacer.aclose()
    times = [time for _, time in sent_requests]
    assert all(later - earlier >= 0.049 for earlier, later in pairwise(times))
    for process in "01":
        assert [name for name, _ in sent_requests if name[0] == process] == [
            f"{process}{number}" for number in range(4)
        ]
    assert {name for name, _ in sent_requests[:4]} == {"00", "01", "10", "11"}


async def test_cancelled_waiter_passes_its_turn_to_the_next() -> None:
    pacer = Pacer(InMemorySharedState(SystemClock()), "k", ONE_CONNECTION._replace(spacing=0.0))
    async with pacer.take_turn():
        waiting = [asyncio.create_task(pacer.take_turn().__aenter__()) for _ in range(2)]
        await asyncio.sleep(0.05)
        waiting[0].cancel()
    async with asyncio.timeout(10):
        await waiting[1]
    assert waiting[0].cancelled()
