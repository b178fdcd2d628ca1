"""Equal shares of a limit: together never above it while processes come and go."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.clock import SystemClock
from workers.llm import process_share as module
from workers.llm.adaptive_admission import TokenBudget
from workers.llm.process_share import LEASE_SECONDS, ProcessShare, ShareHolder, divide_limit
from workers.outbound.store import InMemorySharedState


def test_limit_is_divided_equally_with_remainder_to_the_first() -> None:
    holders: dict[str, ShareHolder] = {}
    for _ in range(2):
        shares = [divide_limit(holders, name, 0, 10, 0.0)[0] for name in "abc"]
    shares = [divide_limit(holders, name, 0, 10, 0.0)[0] for name in "abc"]
    assert shares == [4, 3, 3]


def test_new_process_waits_until_others_free_capacity() -> None:
    holders: dict[str, ShareHolder] = {}
    assert divide_limit(holders, "old", 0, 4, 0.0) == (4, 4)
    assert divide_limit(holders, "new", 0, 4, 0.1) == (0, 2)
    assert divide_limit(holders, "old", 4, 4, 0.2) == (2, 2)
    assert divide_limit(holders, "new", 0, 4, 0.3) == (0, 2), "four are still in flight"
    assert divide_limit(holders, "old", 2, 4, 0.4) == (2, 2)
    assert divide_limit(holders, "new", 0, 4, 0.5) == (2, 2)


def test_share_of_dead_process_is_released_after_its_lease() -> None:
    holders: dict[str, ShareHolder] = {}
    divide_limit(holders, "dead", 4, 4, 0.0)
    assert divide_limit(holders, "alive", 0, 4, LEASE_SECONDS)[0] == 0
    assert divide_limit(holders, "alive", 0, 4, LEASE_SECONDS + 0.1)[0] == 4


def test_every_process_gets_a_slot_when_processes_exceed_the_limit() -> None:
    holders: dict[str, ShareHolder] = {}
    assert [divide_limit(holders, name, 0, 2, 0.0)[0] for name in "abcd"][-1] == 1


@settings(deadline=None)
@given(st.integers(6, 40), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8), st.floats(0, 3)), max_size=80))
def test_combined_shares_never_exceed_the_limit(limit: int, steps: list[tuple[int, int, float]]) -> None:
    holders: dict[str, ShareHolder] = {}
    now, shares, in_flight = 0.0, dict.fromkeys(range(6), 0), dict.fromkeys(range(6), 0)
    renewed = dict.fromkeys(range(6), 0.0)
    for process, ended_count, passed in steps:
        now += passed
        for name in shares:
            if now - renewed[name] > LEASE_SECONDS:
                shares[name] = in_flight[name] = 0
        in_flight[process] = max(0, in_flight[process] - ended_count)
        shares[process], _ = divide_limit(holders, f"{process}", in_flight[process], limit, now)
        renewed[process] = now
        in_flight[process] = max(in_flight[process], shares[process])
        assert sum(in_flight.values()) <= limit


def test_token_budget_limits_spending_per_minute_and_learns_request_size() -> None:
    budget = TokenBudget(per_minute=60_000)
    assert budget.compute_wait(0.0, 1.0) > 0
    assert budget.compute_wait(1.0, 1.0) == 0
    spent = budget.begin()
    assert budget.compute_wait(1.0, 1.0) > 2.9, "the first is taken for a long one"
    budget.settle(spent, 200, is_typical=True)
    assert budget.compute_wait(1.0, 1.0) == 0
    assert budget.mean_tokens < spent
    assert budget.compute_wait(1_000.0, 0.5) == 0
    assert budget.balance == 2_500


async def test_request_during_idle_share_release_is_admitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.0)
    monkeypatch.setattr(module, "_RENEW_SECONDS", 0.01)
    busy, admitted = asyncio.Event(), asyncio.Event()

    class SlowSharedState(InMemorySharedState):
        async def change(self, key: str, work: Callable[[str, float], tuple[str, Any]]) -> Any:
            await asyncio.sleep(0.02)
            return await super().change(key, work)

    share = ProcessShare(SlowSharedState(SystemClock()), "k", 4, time.monotonic)

    def set_if_shared() -> None:
        if share.value:
            admitted.set()

    for pause in (0.0, 0.005, 0.015, 0.03, 0.05):
        busy.set()
        share.request_share(lambda: int(busy.is_set()), busy.is_set, set_if_shared)
        async with asyncio.timeout(10):
            await admitted.wait()
        assert share.value == 4
        busy.clear()
        await asyncio.sleep(pause)
        admitted.clear()
    await share.aclose()
