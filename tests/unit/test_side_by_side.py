"""Evaluations side by side: whose failure costs what."""

from collections.abc import Awaitable, Callable

import pytest

from assayer.errors import AssayerError, InputError, LlmRejected, LlmUnavailable
from cluster.side_by_side import run_side_by_side


def make_evaluations(*results: str | AssayerError) -> list[Callable[[], Awaitable[str]]]:
    def make_evaluation(text: str | AssayerError) -> Callable[[], Awaitable[str]]:
        async def do() -> str:
            if isinstance(text, AssayerError):
                raise text
            return text

        return do

    return [make_evaluation(item) for item in results]


async def reach_endpoint() -> None:
    """Return at once, as the endpoint answers."""


async def fail_to_reach_endpoint() -> None:
    raise LlmUnavailable("The endpoint is down.")


@pytest.mark.parametrize("failure", [LlmUnavailable("One answer was lost."), InputError("It is too long.")])
async def test_single_failure_does_not_affect_other_results(failure: AssayerError) -> None:
    finished, reason = await run_side_by_side(make_evaluations("a", failure, "b"), reach_endpoint)
    assert (dict(finished), reason) == ({0: "a", 1: failure, 2: "b"}, None)


async def test_unreachable_endpoint_stops_remaining_work_and_keeps_finished_results() -> None:
    finished, reason = await run_side_by_side(
        make_evaluations("a", LlmUnavailable("One answer was lost.")), fail_to_reach_endpoint
    )
    assert finished[0] == "a"
    assert isinstance(reason, LlmUnavailable)


async def test_error_affecting_all_evaluations_stops_all() -> None:
    rejection = LlmRejected("The key is wrong.")
    finished, reason = await run_side_by_side(make_evaluations("a", rejection), reach_endpoint)
    assert (dict(finished), reason) == ({0: "a"}, rejection)
