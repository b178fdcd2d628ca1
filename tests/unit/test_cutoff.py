"""The rule of the cutoff: windows of days, and what of any source's results lies in them."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.cutoff import admits, keep_within_window
from assayer.models import OPEN, Window

DAY = dt.date(2021, 5, 7)
DAYS = st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 9))
WINDOWS = st.builds(Window, after=st.none() | DAYS, before=st.none() | DAYS)


@pytest.mark.parametrize(
    ("day", "window", "is_inside"),
    [
        (DAY, OPEN, True),
        (DAY, Window(after=DAY, before=DAY), True),
        (DAY, Window(before=dt.date(2021, 5, 6)), False),
        (DAY, Window(after=dt.date(2021, 5, 8)), False),
        (None, OPEN, True),
        (None, Window(before=DAY), False),
    ],
)
def test_date_window_includes_both_end_days_and_excludes_undated_items(
    day: dt.date | None, window: Window, is_inside: bool
) -> None:
    assert admits(window, day) is is_inside


def test_filtered_results_keep_order_and_undated_items_only_on_request() -> None:
    results = [("b", DAY), ("undated", None), ("late", dt.date(2022, 1, 1)), ("a", DAY)]
    window = Window.until(DAY)
    assert [name for name, _ in keep_within_window(results, window, lambda item: item[1])] == ["b", "a"]
    assert [name for name, _ in keep_within_window(results, window, lambda item: item[1], undated=True)] == [
        "b",
        "undated",
        "a",
    ]


@given(window=WINDOWS, other_window=WINDOWS, day=DAYS)
def test_an_intersection_contains_the_days_in_both(window: Window, other_window: Window, day: dt.date) -> None:
    assert window.intersection(other_window).contains(day) == (window.contains(day) and other_window.contains(day))


@given(cutoff=DAYS, day=DAYS)
def test_every_day_is_on_exactly_one_side_of_a_cutoff(cutoff: dt.date, day: dt.date) -> None:
    assert Window.until(cutoff).contains(day) != Window.later_than(cutoff).contains(day)
