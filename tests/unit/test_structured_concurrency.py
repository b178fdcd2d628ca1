"""Depth follows the data; failures of one item stay with that item."""

import pytest

from assayer.errors import (
    AssayerError,
    BudgetExhausted,
    ConfigurationError,
    Defect,
    LlmRejected,
    LlmUnavailable,
    MalformedAnswer,
    PartUnavailable,
    StorageError,
)
from assayer.run.structured_concurrency import Failed, attempt, deepen, depth, each, measured, together


async def _call(levels: int) -> int:
    for _ in range(levels):
        deepen()
    return levels


async def test_depth_of_siblings_is_the_deepest_of_them() -> None:
    before = depth()
    await together([_call(1), _call(3), _call(2)])
    assert depth() - before == 3


async def test_depth_of_steps_that_wait_for_each_other_adds_up() -> None:
    async def chain() -> None:
        await together([_call(2), _call(1)])
        await together([_call(1)])

    _, levels = await measured(chain())
    assert levels == 3


async def test_results_keep_the_order_of_the_items() -> None:
    assert await each([3, 1, 2], _call) == [3, 1, 2]


async def test_an_item_that_fails_leaves_its_siblings_alone() -> None:
    async def work(item: int) -> int:
        if item == 2:
            raise MalformedAnswer("no JSON")
        return item

    first, second, third = await each([1, 2, 3], work)
    assert (first, third) == (1, 3)
    assert isinstance(second, Failed)
    assert second.error.reason == "the LLM gave no valid answer"


async def test_a_spent_budget_is_a_failure_of_the_item() -> None:
    async def work() -> int:
        raise BudgetExhausted("spent")

    assert isinstance(await attempt(work()), Failed)


@pytest.mark.parametrize("error", [LlmRejected("wrong key"), LlmUnavailable("gone")])
async def test_an_endpoint_that_refuses_or_is_gone_stops_everything(error: AssayerError) -> None:
    async def work(item: int) -> int:
        raise error

    with pytest.raises(type(error)):
        await each([1, 2], work)


@pytest.mark.parametrize("error", [StorageError("no connection"), ConfigurationError("no price"), PartUnavailable("x")])
async def test_what_every_other_item_would_meet_is_no_item_of_its_own(error: AssayerError) -> None:
    async def work(item: int) -> int:
        if item == 2:
            raise error
        return item

    with pytest.raises(type(error)):
        await each([1, 2], work)


async def test_a_defect_costs_its_item_and_is_named() -> None:
    async def work() -> int:
        raise Defect("assayer failed to ask a source.")

    outcome = await attempt(work())
    assert isinstance(outcome, Failed)
    assert outcome.error.reason == "a defect of assayer"
