"""A timeline laid out: lanes, levels, how much ran at once; and the page drawn from it."""

import datetime as dt
import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assayer.models.timeline import Span, SpanKind, SpanOutcome, Timeline
from assayer.reports.timeline_chart import chart_of, levels, steps
from assayer.reports.timeline_page import as_timeline_html

_START = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
_Interval = st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda pair: (pair[0] / 4, (pair[0] + pair[1]) / 4))


def _span(
    name: str, start: float, end: float, kind: SpanKind = "call", outcome: SpanOutcome = "done", detail: str = ""
) -> Span:
    at = [_START + dt.timedelta(seconds=seconds) for seconds in (start, end)]
    return Span(name=name, kind=kind, start=at[0], end=at[1], outcome=outcome, detail=detail)


def _timeline(*spans: Span, seconds: float = 10.0, title: str = "An idea") -> Timeline:
    end = _START + dt.timedelta(seconds=seconds)
    return Timeline(id="job_1", title=title, state="done", start=_START, end=end, spans=spans)


def test_calls_side_by_side_take_a_lane_each_and_one_after_another_share_one() -> None:
    chart = chart_of(_timeline(_span("read", 0, 2), _span("read", 1, 3), _span("read", 2, 4)))
    assert [(one.start, one.lane, one.level) for one in chart.rows[0].spans] == [(0, 0, 1), (1, 1, 1), (2, 0, 2)]
    assert (chart.most, chart.depth, chart.busy_seconds) == (2, 2, 4)


def test_rows_come_as_waits_stages_and_tasks_each_in_order_of_start() -> None:
    spans = (_span("b", 3, 4), _span("a", 5, 6), _span("late", 3, 6, "stage"), _span("early", 1, 6, "stage"))
    chart = chart_of(_timeline(*spans, _span("queued", 0, 1, "wait")))
    assert [row.name for row in chart.rows] == ["queued", "early", "late", "b", "a"]
    assert chart.waited_seconds == 1


def test_answer_from_the_cache_is_a_call_but_none_in_flight() -> None:
    chart = chart_of(_timeline(_span("read", 1, 2), _span("read", 1, 2, outcome="cached")))
    assert (len(chart.calls), len(chart.asked), chart.most, chart.depth) == (2, 1, 1, 1)


def test_span_written_by_a_clock_that_runs_behind_starts_with_the_whole() -> None:
    (row,) = chart_of(_timeline(_span("read", -3, -1))).rows
    assert (row.start, row.end) == (0, 0)


def test_timeline_without_spans_can_be_drawn() -> None:
    chart = chart_of(_timeline(seconds=0))
    assert (chart.most, chart.depth, chart.rows) == (0, 0, ())
    assert "<h1" in as_timeline_html(_timeline(seconds=0))


@given(st.lists(_Interval, max_size=40))
def test_spans_of_one_lane_never_overlap_and_lanes_are_as_few_as_can_be(times: list[tuple[float, float]]) -> None:
    chart = chart_of(_timeline(*(_span("read", *one) for one in times)))
    for row in chart.rows:
        for lane in range(row.lanes):
            inside = sorted((one.start, one.end) for one in row.spans if one.lane == lane)
            assert all(before[1] <= after[0] for before, after in pairwise(inside))
        if all(one.end > one.start for one in row.spans):
            assert row.lanes == row.most


@given(st.lists(_Interval, max_size=30))
def test_level_is_one_more_than_the_highest_that_had_ended(times: list[tuple[float, float]]) -> None:
    times = [(start, end + 0.25) for start, end in times]
    found = levels(times)
    for (start, _), level in zip(times, found, strict=True):
        before = [other for (_, end), other in zip(times, found, strict=True) if end <= start]
        assert level == 1 + max(before, default=0)


@given(st.lists(_Interval, max_size=30), st.floats(0, 20))
def test_steps_count_what_runs_at_any_moment(times: list[tuple[float, float]], at: float) -> None:
    running = [step.running for step in steps(times) if step.at <= at]
    assert (running[-1] if running else 0) == sum(start <= at < end for start, end in times)


def test_page_escapes_what_comes_from_outside_and_asks_for_nothing() -> None:
    hostile = "<script>alert(1)</script>"
    html = as_timeline_html(_timeline(_span(hostile, 0, 1, detail=hostile), title=hostile))
    assert "<script" not in html
    assert not re.search(r"(src|href|url)\s*[=(]", html)
    assert "default-src 'none'" in html


def test_page_draws_every_span_with_its_times() -> None:
    html = as_timeline_html(_timeline(_span("read", 1, 2.5), _span("judge", 3, 4, outcome="failed", detail="refused")))
    assert html.count('<rect class="bar call') == 2 + 4  # two of them in the legend, with the cached and the failed
    assert "read: 1.00 s to 2.50 s (1.50 s), level 1" in html
    assert re.search(r'class="bar call failed".*judge: 3\.00 s to 4\.00 s \(1\.00 s\), level 2\nrefused', html)
