"""Budgets hold with many calls in flight."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assayer.errors import BudgetExhausted
from assayer.run.budget import Budget, Reservation

NO_DEADLINE = settings(deadline=None)  # the machine may be busy

AMOUNTS = st.floats(0, 10, allow_nan=False)


@NO_DEADLINE
@given(
    st.floats(0.01, 50),
    st.integers(1, 5_000),
    st.lists(st.tuples(AMOUNTS, st.integers(0, 1_000), st.floats(0, 1), st.integers(0, 5)), max_size=60),
)
def test_spending_stays_within_limits_when_estimates_hold(
    max_usd: float, max_tokens: int, steps: list[tuple[float, int, float, int]]
) -> None:
    budget = Budget(max_usd=max_usd, max_prompt_tokens=max_tokens)
    reservations: list[Reservation] = []
    for usd, tokens, share, settle in steps:
        reservation = Reservation(usd, tokens)
        try:
            if budget.try_reserve(reservation):
                reservations.append(reservation)
        except BudgetExhausted:
            pass
        for _ in range(min(settle, len(reservations))):
            finished = reservations.pop(0)
            budget.settle(finished, finished.usd * share, int(finished.prompt_tokens * share))
        assert budget.spent_usd <= max_usd * (1 + 1e-9)
        assert budget.spent_prompt_tokens <= max_tokens


async def test_llm_requests_wait_for_budget_and_are_served_in_order() -> None:
    budget = Budget(max_usd=1.0)
    first = await budget.reserve(0.8, 0)
    order: list[str] = []

    async def call(name: str, usd: float) -> None:
        reservation = await budget.reserve(usd, 0)
        order.append(name)
        budget.settle(reservation, 0.0)

    async with asyncio.TaskGroup() as group:
        group.create_task(call("large", 0.9))
        group.create_task(call("small", 0.1))
        await asyncio.sleep(0)
        assert order == []
        budget.settle(first, 0.05)
    assert order == ["large", "small"]


async def test_waiting_llm_request_is_rejected_when_remaining_budget_is_too_small() -> None:
    budget = Budget(max_usd=1.0)
    first = await budget.reserve(0.8, 0)
    waiting = asyncio.create_task(budget.reserve(0.5, 0))
    await asyncio.sleep(0)
    budget.settle(first, 0.8)
    with pytest.raises(BudgetExhausted, match=r"\$0\.2000 of the \$1\.00 budget is left"):
        await waiting


async def test_cancelled_waiter_does_not_block_later_waiters() -> None:
    budget = Budget(max_usd=1.0)
    first = await budget.reserve(0.8, 0)
    large_waiter, small_waiter = (
        asyncio.create_task(budget.reserve(0.9, 0)),
        asyncio.create_task(budget.reserve(0.2, 0)),
    )
    await asyncio.sleep(0)
    large_waiter.cancel()
    await asyncio.wait([large_waiter])
    assert await small_waiter == Reservation(0.2, 0)
    budget.settle(first)


async def test_waiter_cancelled_after_its_turn_releases_reserved_budget() -> None:
    budget = Budget(max_prompt_tokens=10)
    first = await budget.reserve(0, 10)
    waiting = asyncio.create_task(budget.reserve(0, 10))
    await asyncio.sleep(0)
    budget.settle(first)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert budget.try_reserve(Reservation(0, 10))
