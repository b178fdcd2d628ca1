"""Evaluations side by side: whose failure costs what."""

from collections.abc import Awaitable, Callable

import pytest

from assayer.errors import AssayerError, InputError, LlmRejected, LlmUnavailable
from cluster.side_by_side import run_side_by_side


def works(*found: str | AssayerError) -> list[Callable[[], Awaitable[str]]]:
    def work(text: str | AssayerError) -> Callable[[], Awaitable[str]]:
        async def do() -> str:
            if isinstance(text, AssayerError):
                raise text
            return text

        return do

    return [work(item) for item in found]


async def within_reach() -> None:
    """The endpoint answers."""


async def out_of_reach() -> None:
    raise LlmUnavailable("The endpoint is down.")


@pytest.mark.parametrize("failure", [LlmUnavailable("One answer was lost."), InputError("It is too long.")])
async def test_single_failure_does_not_affect_other_results(failure: AssayerError) -> None:
    ended, stopped = await run_side_by_side(works("a", failure, "b"), within_reach)
    assert (dict(ended), stopped) == ({0: "a", 1: failure, 2: "b"}, None)


async def test_unreachable_endpoint_stops_remaining_work_and_keeps_finished_results() -> None:
    ended, stopped = await run_side_by_side(works("a", LlmUnavailable("One answer was lost.")), out_of_reach)
    assert ended[0] == "a"
    assert isinstance(stopped, LlmUnavailable)


async def test_error_affecting_all_evaluations_stops_all() -> None:
    refused = LlmRejected("The key is wrong.")
    ended, stopped = await run_side_by_side(works("a", refused), within_reach)
    assert (dict(ended), stopped) == ({0: "a"}, refused)
