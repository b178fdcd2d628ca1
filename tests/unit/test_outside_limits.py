import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.outside.knobs import Knobs
from simulator.outside.limits import Allowance

_pauses = st.lists(st.floats(0, 3, allow_nan=False), max_size=60)


def taken(knobs: Knobs, moments: list[float]) -> list[float]:
    allowance = Allowance()
    return [moment for moment in moments if allowance.take(knobs, moment, 1) is None]


def moments(pauses: list[float]) -> list[float]:
    return [sum(pauses[: place + 1]) for place in range(len(pauses))]


@given(pauses=_pauses, burst=st.integers(1, 5))
def test_no_stretch_of_time_holds_more_than_the_rate_and_the_burst(pauses: list[float], burst: int) -> None:
    kept = taken(Knobs(per_second=2.0, burst=burst), moments(pauses))
    for first in range(len(kept)):
        for last in range(first, len(kept)):
            assert last - first + 1 <= burst + 2.0 * (kept[last] - kept[first]) + 1e-6


@given(pauses=st.lists(st.floats(0.5, 3, allow_nan=False), max_size=40))
def test_requests_at_the_steady_rate_are_all_taken(pauses: list[float]) -> None:
    every = moments(pauses)
    assert taken(Knobs(per_second=2.0, grace=1e-9), every) == every


def test_a_refused_request_uses_nothing_up_and_is_told_how_long_to_wait() -> None:
    knobs, allowance = Knobs(per_second=0.5), Allowance()
    assert allowance.take(knobs, 10.0, 1) is None
    refused = allowance.take(knobs, 10.5, 1)
    assert refused is not None
    assert refused.wait == pytest.approx(1.5)
    assert allowance.take(knobs, 12.0, 1) is None


def test_without_enforcement_spacing_counts_from_the_last_request() -> None:
    knobs, allowance = Knobs(per_second=1.0, enforce=False), Allowance()
    early = [allowance.take(knobs, moment, 1) is not None for moment in (0.0, 0.9, 1.9, 2.0)]
    assert early == [False, True, False, True]


def test_grace_forgives_early_requests_but_not_the_average() -> None:
    knobs = Knobs(per_second=1.0, grace=0.05)
    assert taken(knobs, [0.0, 0.96, 1.96]) == [0.0, 0.96, 1.96]
    assert len(taken(knobs, [0.96 * place for place in range(20)])) < 20


def test_a_day_s_budget_is_spent_by_cost() -> None:
    knobs, allowance = Knobs(per_day=25), Allowance()
    refused = [allowance.take(knobs, float(place), 10) is not None for place in range(3)]
    assert refused == [False, False, True]
    assert allowance.take(knobs, 4.0, 5) is None


def test_connections_at_once_are_limited() -> None:
    allowance = Allowance(in_flight=2)
    assert allowance.take(Knobs(concurrent=2), 0.0, 1) is not None
    assert allowance.take(Knobs(concurrent=3), 0.0, 1) is None
