"""The fuzzer finds what crashes and what hangs, and goes on; it repeats itself with the same seed."""

from collections.abc import Callable

import pytest

from assayer.errors import AssayerError, InputError
from benchmarks.hostile.fuzzing.child import Readers
from benchmarks.hostile.fuzzing.growth import Growth
from benchmarks.hostile.fuzzing.hunting import Hunt, Limits, ReaderResults


def crashes(text: str) -> None:
    if len(text) > 10:
        raise KeyError(text)


def hangs(text: str) -> None:
    while len(text) > 10:
        pass


def refuses(text: str) -> None:
    raise InputError("Not this one.")


READERS: dict[str, Callable[[str], object]] = {"hangs": hangs, "crashes": crashes, "refuses": refuses, "reads": len}
REFUSALS = (AssayerError,)


@pytest.fixture(scope="module")
def results() -> dict[str, ReaderResults]:
    fuzzing_run = Hunt(Readers(__name__), list(READERS), 1, Limits(processor_seconds=0.2, cases=8, characters=1_000))
    fuzzing_run.run(0)
    return fuzzing_run.results


@pytest.mark.slow
def test_crash_is_reported_with_error_location_and_triggering_text(results: dict[str, ReaderResults]) -> None:
    ((error, text),) = results["crashes"].crashes.items()
    assert error.startswith("KeyError in crashes, line ")
    assert len(text) > 10
    assert results["crashes"].cases == 8


@pytest.mark.slow
def test_hanging_reader_is_killed_and_remaining_readers_run(results: dict[str, ReaderResults]) -> None:
    (text,) = results["hangs"].hangs
    assert len(text) > 10
    assert results["reads"].cases == results["refuses"].cases == 8


@pytest.mark.slow
def test_refused_input_is_not_counted_as_crash(results: dict[str, ReaderResults]) -> None:
    assert results["refuses"].crashes == {}
    assert results["reads"] == ReaderResults(cases=8, slowest=results["reads"].slowest)


@pytest.mark.parametrize(
    ("seconds_of_half", "seconds_of_whole", "too_much"),
    [(0.1, 0.2, False), (0.1, 0.24, False), (0.1, 0.4, True), (0.001, 0.02, False)],
)
def test_time_growth_above_linear_is_flagged_when_measurable(
    seconds_of_half: float, seconds_of_whole: float, too_much: bool
) -> None:
    assert Growth("a", seconds_of_half, seconds_of_whole).is_too_much == too_much
