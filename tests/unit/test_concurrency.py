"""Failures of one item stay with that item; fatal errors stop all."""

import pytest

from assayer.errors import (
    AssayerError,
    BudgetExhausted,
    ComponentUnavailable,
    ConfigurationError,
    Defect,
    LlmRejected,
    LlmUnavailable,
    MalformedAnswer,
    StorageError,
)
from assayer.run.concurrency import Failed, catch_failure, gather_settled


async def test_an_item_that_fails_leaves_its_siblings_alone() -> None:
    async def process_item(item: int) -> int:
        if item == 2:
            raise MalformedAnswer("no JSON")
        return item

    first, second, third = await gather_settled([1, 2, 3], process_item)
    assert (first, third) == (1, 3)
    assert isinstance(second, Failed)
    assert second.error.reason == "the LLM gave no valid answer"


async def test_exhausted_budget_is_returned_as_item_failure() -> None:
    async def exhaust_budget() -> int:
        raise BudgetExhausted("spent")

    assert isinstance(await catch_failure(exhaust_budget()), Failed)


@pytest.mark.parametrize(
    "error",
    [
        LlmRejected("wrong key"),
        LlmUnavailable("gone"),
        StorageError("no connection"),
        ConfigurationError("no price"),
        ComponentUnavailable("x"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_error_affecting_every_item_is_raised(error: AssayerError) -> None:
    async def process_item(item: int) -> int:
        if item == 2:
            raise error
        return item

    with pytest.raises(type(error)):
        await gather_settled([1, 2], process_item)


async def test_internal_error_fails_its_item_with_reason() -> None:
    async def raise_defect() -> int:
        raise Defect("assayer failed to ask a source.")

    outcome = await catch_failure(raise_defect())
    assert isinstance(outcome, Failed)
    assert outcome.error.reason == "a defect of assayer"
