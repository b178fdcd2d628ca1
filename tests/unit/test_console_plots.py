"""Marks of the console's plots: as many as bins, each naming exactly the proposals that it stands for."""

import datetime as dt

from hypothesis import example, given
from hypothesis import strategies as st

from assayer_client.rankings import Band
from orchestrator.console.drawing import build_histogram, build_rank_curve, summarise_over_time
from orchestrator.store.call_series import RankSeries

STARTED_AT = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
_TIMES = st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2026, 12, 31), timezones=st.just(dt.UTC))


@given(st.lists(st.floats(0, 1)))
@example([0.0, 0.049, 0.05, 0.35, 1.0])
def test_histogram_counts_each_score_in_the_same_range_as_table_filter(scores: list[float]) -> None:
    bars = build_histogram(scores)
    assert max(bar.height for bar in bars) == bool(scores)
    for bar in bars:
        inside = [
            score for score in scores if bar.low / 100 <= score < bar.high / 100 or (bar.high == 100 and score == 1)
        ]
        assert bar.proposals == len(inside)


@given(st.lists(st.tuples(_TIMES, st.none() | st.floats(0, 1e6)), min_size=1, max_size=60))
def test_time_buckets_count_evaluations_that_finished_within_them(
    points: list[tuple[dt.datetime, float | None]],
) -> None:
    finished_times, values = [finished_at for finished_at, _ in points], [value for _, value in points]
    plot = summarise_over_time(finished_times, values)
    known_points = [(finished_at, value) for finished_at, value in points if value is not None]
    assert (plot is None) == (not known_points)
    if plot is None:
        return
    assert len(plot.marks) <= 40
    assert sum(mark.proposals for mark in plot.marks) == len(known_points)
    for mark in plot.marks:
        inside = [value for finished_at, value in known_points if mark.start <= finished_at < mark.end]
        assert mark.proposals == len(inside)
        assert mark.highest == max(inside)
        assert 0 <= mark.low <= mark.middle <= mark.high <= mark.maximum + 1e-9
        assert 0 <= mark.x < 1


def test_missing_values_are_omitted_instead_of_counted_as_zero() -> None:
    plot = summarise_over_time([STARTED_AT, STARTED_AT + dt.timedelta(hours=1)], [None, 3.0])
    assert plot is not None
    assert [(mark.proposals, mark.median) for mark in plot.marks] == [(1, 3.0)]
    assert summarise_over_time([STARTED_AT], [None]) is None
    assert summarise_over_time([], []) is None


def make_rank_series(count: int, cut: int | None = None) -> RankSeries:
    bands: list[Band | None] = ["in" if n < 10 else "human" if n < 20 else "out" for n in range(count)]
    ranks = list(range(1, count + 1))
    lows, highs = [max(1.0, rank - 5.0) for rank in ranks], [min(count, rank + 5.0) for rank in ranks]
    return RankSeries(ranks, lows, highs, bands, [], [], cut)


def test_rank_curve_groups_many_ranks_into_marks_linked_to_pages() -> None:
    short_curve, long_curve = build_rank_curve(make_rank_series(70, cut=35)), build_rank_curve(make_rank_series(5_000))
    assert short_curve is not None
    assert long_curve is not None
    assert [(mark.first, mark.last, mark.page) for mark in short_curve.marks[49:51]] == [(50, 50, 1), (51, 51, 2)]
    assert (short_curve.cutoff, short_curve.shortlist_size) == (0.5, 35)
    assert (len(long_curve.marks), long_curve.proposals_per_mark, long_curve.cutoff) == (100, 50, None)
    assert [(mark.first, mark.last, mark.page) for mark in long_curve.marks[:2]] == [(1, 50, 1), (51, 100, 2)]
    first = long_curve.marks[0]
    assert (first.clearly_in, first.for_people, first.clearly_out) == (10, 10, 30)
    assert first.low < first.middle < first.high
    assert abs(sum(mark.width for mark in long_curve.marks) - 1) < 1e-9


def test_rank_curve_has_a_bounded_number_of_marks() -> None:
    curve = build_rank_curve(make_rank_series(60_001))
    assert curve is not None
    assert len(curve.marks) <= 200
    assert curve.marks[-1].last == 60_001
    assert build_rank_curve(RankSeries([], [], [], [], [], [], None)) is None
