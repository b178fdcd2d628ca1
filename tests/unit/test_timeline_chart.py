"""Figures of a timeline: its rows, and how much ran at once."""

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from assayer.reports.timeline_chart import build_timeline_chart, count_max_running, count_running
from assayer_client.reports import Span, SpanKind, SpanOutcome, Timeline

_START = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
_Interval = st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda pair: (pair[0] / 4, (pair[0] + pair[1]) / 4))


def make_span(
    name: str, start: float, end: float, kind: SpanKind = "call", outcome: SpanOutcome = "succeeded", detail: str = ""
) -> Span:
    times = [_START + dt.timedelta(seconds=seconds) for seconds in (start, end)]
    return Span(name=name, kind=kind, start=times[0], end=times[1], outcome=outcome, detail=detail)


def make_timeline(*spans: Span, seconds: float = 10.0, title: str = "An idea") -> Timeline:
    end = _START + dt.timedelta(seconds=seconds)
    return Timeline(id="job_1", title=title, state="succeeded", start=_START, end=end, spans=spans)


def test_overlapping_requests_are_counted_as_concurrent() -> None:
    chart = build_timeline_chart(
        make_timeline(make_span("read", 0, 2), make_span("read", 1, 3), make_span("read", 2, 4))
    )
    assert (chart.rows[0].most, count_max_running(chart.asked)) == (2, 2)


def test_rows_are_ordered_by_kind_then_start_time() -> None:
    spans = (
        make_span("b", 3, 4),
        make_span("a", 5, 6),
        make_span("late", 3, 6, "stage"),
        make_span("early", 1, 6, "stage"),
    )
    chart = build_timeline_chart(make_timeline(*spans, make_span("queued", 0, 1, "wait")))
    assert [row.name for row in chart.rows] == ["queued", "early", "late", "b", "a"]
    assert chart.waited_seconds == 1


def test_cached_answer_counts_as_request_but_not_in_flight() -> None:
    chart = build_timeline_chart(make_timeline(make_span("read", 1, 2), make_span("read", 1, 2, outcome="cached")))
    assert (chart.calls, len(chart.asked)) == (2, 1)


def test_span_before_timeline_start_is_clamped_to_start() -> None:
    (row,) = build_timeline_chart(make_timeline(make_span("read", -3, -1))).rows
    assert row.spans == ((0, 0),)


def test_timeline_without_spans_yields_empty_chart() -> None:
    chart = build_timeline_chart(make_timeline(seconds=0))
    assert (count_max_running(chart.asked), chart.rows) == (0, ())


@given(st.lists(_Interval, max_size=30), st.floats(0, 20))
def test_steps_count_running_requests_at_any_moment(times: list[tuple[float, float]], moment: float) -> None:
    running = [step.running for step in count_running(times) if step.at <= moment]
    assert (running[-1] if running else 0) == sum(start <= moment < end for start, end in times)
