"""Days to harvest: after any earlier runs, no day between those in the folder is left out."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from index.ingest.harvest_days import DaySpan, HarvestedDays

NOTHING = HarvestedDays(None, None, None)


def day(number: int) -> dt.date:
    return dt.date(2020, 1, 1) + dt.timedelta(days=number)


def span(first: int, last: int) -> DaySpan:
    return DaySpan(day(first), day(last))


HELD = HarvestedDays(day(100), day(130), None)


def test_first_harvest_starts_at_the_requested_day() -> None:
    assert NOTHING.list_spans_to_request(day(0), day(9)) == [span(0, 9)]
    assert NOTHING.list_spans_to_request(day(9), day(9)) == [span(9, 9)]
    with pytest.raises(InputError, match="Nothing has been harvested yet"):
        NOTHING.list_spans_to_request(None, day(9))


def test_last_harvested_day_is_requested_again() -> None:
    assert HELD.list_spans_to_request(None, day(140)) == [span(130, 140)]
    assert HELD.list_spans_to_request(None, day(130)) == []


@pytest.mark.parametrize("last", [99, 100, 140])
def test_harvest_may_extend_back_when_it_joins_harvested_days(last: int) -> None:
    assert HELD.list_spans_to_request(day(50), day(last)) == [span(50, last)]


@pytest.mark.parametrize(("first", "last"), [(50, 98), (132, 140)])
def test_harvest_that_would_leave_a_gap_is_refused(first: int, last: int) -> None:
    with pytest.raises(InputError, match="would be missing"):
        HELD.list_spans_to_request(day(first), day(last))


def test_folder_of_earlier_version_counts_only_its_last_day() -> None:
    old = HarvestedDays(None, day(130), None)
    with pytest.raises(InputError, match=str(day(129))):
        old.list_spans_to_request(day(50), day(100))
    assert old.list_spans_to_request(day(50), day(129)) == [span(50, 129)]


def test_interrupted_span_is_requested_first_unless_already_covered() -> None:
    broken = HELD._replace(begun=span(50, 99))
    assert broken.list_spans_to_request(None, day(140)) == [span(50, 99), span(130, 140)]
    assert broken.list_spans_to_request(None, day(130)) == [span(50, 99)]
    assert broken.list_spans_to_request(day(40), day(140)) == [span(40, 140)]


def test_interrupted_first_harvest_is_resumed() -> None:
    assert NOTHING._replace(begun=span(3, 9)).list_spans_to_request(None, day(12)) == [span(3, 12)]
    assert NOTHING._replace(begun=span(3, 9)).list_spans_to_request(day(5), day(12)) == [span(5, 12)]


RUNS = st.lists(st.tuples(st.none() | st.integers(0, 60), st.integers(0, 60), st.booleans()), max_size=12)


@given(RUNS)
def test_harvested_range_never_has_missing_days(runs: list[tuple[int | None, int, bool]]) -> None:
    days, there = NOTHING, set[dt.date]()
    for since, last, ends in runs:
        try:
            asked = days.list_spans_to_request(None if since is None else day(since), day(last))
        except InputError:
            continue
        if not asked:
            continue
        if ends:
            there |= {item for span in asked for item in _days(span)}
            days = days.add_harvested_spans(asked)
        else:
            days = days._replace(begun=DaySpan(min(item.first for item in asked), max(item.last for item in asked)))
        if days.since and days.until:
            assert {*_days(DaySpan(days.since, days.until))} <= there


def _days(span: DaySpan) -> list[dt.date]:
    return [span.first + dt.timedelta(days=number) for number in range((span.last - span.first).days + 1)]
