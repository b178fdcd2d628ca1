"""Days to harvest: after any earlier runs, no day between those in the folder is left out."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from index.ingest.harvest_days import DaySpan, HarvestedDays

NO_DAYS = HarvestedDays(None, None, None)


def make_day(number: int) -> dt.date:
    return dt.date(2020, 1, 1) + dt.timedelta(days=number)


def make_span(first: int, last: int) -> DaySpan:
    return DaySpan(make_day(first), make_day(last))


HARVESTED = HarvestedDays(make_day(100), make_day(130), None)


def test_first_harvest_starts_at_the_requested_day() -> None:
    assert NO_DAYS.list_spans_to_request(make_day(0), make_day(9)) == [make_span(0, 9)]
    assert NO_DAYS.list_spans_to_request(make_day(9), make_day(9)) == [make_span(9, 9)]
    with pytest.raises(InputError, match="Nothing has been harvested yet"):
        NO_DAYS.list_spans_to_request(None, make_day(9))


def test_last_harvested_day_is_requested_again() -> None:
    assert HARVESTED.list_spans_to_request(None, make_day(140)) == [make_span(130, 140)]
    assert HARVESTED.list_spans_to_request(None, make_day(130)) == []


@pytest.mark.parametrize("last", [99, 100, 140])
def test_harvest_may_extend_back_when_it_joins_harvested_days(last: int) -> None:
    assert HARVESTED.list_spans_to_request(make_day(50), make_day(last)) == [make_span(50, last)]


@pytest.mark.parametrize(("first", "last"), [(50, 98), (132, 140)])
def test_harvest_that_would_leave_a_gap_is_refused(first: int, last: int) -> None:
    with pytest.raises(InputError, match="would be missing"):
        HARVESTED.list_spans_to_request(make_day(first), make_day(last))


def test_folder_of_earlier_version_counts_only_its_last_day() -> None:
    earlier_days = HarvestedDays(None, make_day(130), None)
    with pytest.raises(InputError, match=str(make_day(129))):
        earlier_days.list_spans_to_request(make_day(50), make_day(100))
    assert earlier_days.list_spans_to_request(make_day(50), make_day(129)) == [make_span(50, 129)]


def test_interrupted_span_is_requested_first_unless_already_covered() -> None:
    interrupted = HARVESTED._replace(begun=make_span(50, 99))
    assert interrupted.list_spans_to_request(None, make_day(140)) == [make_span(50, 99), make_span(130, 140)]
    assert interrupted.list_spans_to_request(None, make_day(130)) == [make_span(50, 99)]
    assert interrupted.list_spans_to_request(make_day(40), make_day(140)) == [make_span(40, 140)]


def test_interrupted_first_harvest_is_resumed() -> None:
    assert NO_DAYS._replace(begun=make_span(3, 9)).list_spans_to_request(None, make_day(12)) == [make_span(3, 12)]
    assert NO_DAYS._replace(begun=make_span(3, 9)).list_spans_to_request(make_day(5), make_day(12)) == [
        make_span(5, 12)
    ]


RUNS = st.lists(st.tuples(st.none() | st.integers(0, 60), st.integers(0, 60), st.booleans()), max_size=12)


@given(RUNS)
def test_harvested_range_never_has_missing_days(runs: list[tuple[int | None, int, bool]]) -> None:
    days, harvested_days = NO_DAYS, set[dt.date]()
    for since, last, is_completed in runs:
        try:
            requested_spans = days.list_spans_to_request(None if since is None else make_day(since), make_day(last))
        except InputError:
            continue
        if not requested_spans:
            continue
        if is_completed:
            harvested_days |= {item for span in requested_spans for item in list_days(span)}
            days = days.add_harvested_spans(requested_spans)
        else:
            days = days._replace(
                begun=DaySpan(min(item.first for item in requested_spans), max(item.last for item in requested_spans))
            )
        if days.since and days.until:
            assert {*list_days(DaySpan(days.since, days.until))} <= harvested_days


def list_days(span: DaySpan) -> list[dt.date]:
    return [span.first + dt.timedelta(days=number) for number in range((span.last - span.first).days + 1)]
