"""The marks in plots, which a template draws as SVG. Positions are fractions of the plot's width and height. The number
of marks is limited, however many proposals there are; each mark holds the data for a link to its proposals."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchestrator.store.call_series import RankSeries
from orchestrator.store.rows import PAGE

_SCORE_BINS = 20
_TIME_BINS = 40
_MAX_RANK_MARKS = 200
_QUANTILES = (0.1, 0.5, 0.9)


class ScoreBar(NamedTuple):
    low: int
    high: int
    """Upper bound for the bar's scores, 0 to 100; `low` is the lower bound."""
    proposals: int
    height: float
    """Height relative to the highest bar, 0 to 1."""


class TimeMark(NamedTuple):
    """The mark for evaluations that ended within one time interval."""

    start: dt.datetime
    end: dt.datetime
    """End of the interval (exclusive)."""
    proposals: int
    x: float
    """Position of the interval's start, 0 to 1."""
    low: float
    middle: float
    high: float
    maximum: float
    """Highest value in the interval; `low`, `middle` and `high` are the 10th, 50th and 90th percentiles. All four are
    relative to the highest value in any interval, 0 to 1."""
    median: float
    highest: float
    """Highest value in the interval. Like `median`, it is in the original unit."""


class TimePlot(NamedTuple):
    marks: tuple[TimeMark, ...]
    width: float
    """Width of each interval, 0 to 1."""
    first: dt.datetime
    last: dt.datetime
    maximum: float


class RankMark(NamedTuple):
    """The mark for consecutive proposals in a ranking. In a short ranking, each proposal has its own mark."""

    first: int
    last: int
    page: int
    """Number of the page, in the table sorted by rank, on which the mark's proposals begin."""
    x: float
    width: float
    low: float
    high: float
    middle: float
    """Median rank of the mark's proposals. `low` and `high` are the median lower and upper bounds of their rank
    intervals. All three are scaled from 0 (best) to 1."""
    clearly_in: int
    for_people: int
    clearly_out: int


class RankCurve(NamedTuple):
    marks: tuple[RankMark, ...]
    proposals: int
    proposals_per_mark: int
    """Number of proposals per mark."""
    cutoff: float | None
    """Position of the ranking's cutoff, 0 to 1."""
    shortlist_size: int | None


def build_histogram(scores: Sequence[float]) -> list[ScoreBar]:
    """Return a histogram of scores, which range from 0 to 1. A score on a border belongs to the higher bin."""
    step = 100 // _SCORE_BINS
    borders = np.arange(0, 100 + step, step) / 100
    counts = np.histogram(np.asarray(scores, dtype=float), borders)[0].tolist()
    max_count = max(counts) or 1
    return [
        ScoreBar(step * number, step * (number + 1), count, count / max_count) for number, count in enumerate(counts)
    ]


def summarise_over_time(ended: Sequence[dt.datetime], values: Sequence[float | None]) -> TimePlot | None:
    """Summarise evaluations' values (such as costs) by end time, in up to 40 equal intervals. Missing values are
    ignored. Return None if all are missing."""
    figures = np.asarray(values, dtype=float)
    has_value = ~np.isnan(figures)
    if not has_value.any():
        return None
    origin = min(ended)
    offsets = _to_microseconds(ended, origin)
    span = int(offsets.max()) + 1
    width = -(-span // _TIME_BINS)
    intervals = offsets // width
    max_value = float(figures[has_value].max()) or 1.0
    marks = []
    for index in np.unique(intervals[has_value]).tolist():
        interval_values = figures[has_value & (intervals == index)]
        low, middle, high = np.quantile(interval_values, _QUANTILES).tolist()
        highest = float(interval_values.max())
        start = origin + dt.timedelta(microseconds=index * width)
        end = start + dt.timedelta(microseconds=width)
        shares = (low / max_value, middle / max_value, high / max_value, highest / max_value)
        marks.append(TimeMark(start, end, len(interval_values), index / _TIME_BINS, *shares, middle, highest))
    return TimePlot(tuple(marks), 1 / _TIME_BINS, origin, max(ended), max_value)


def build_rank_curve(series: RankSeries) -> RankCurve | None:
    """Return the rank curve. Each mark stands for one proposal; if there are more than 200 proposals, it stands for
    those on one or more pages of the table. Return None if no proposal is ranked."""
    count = len(series.ranks)
    if not count:
        return None
    step = 1 if count <= _MAX_RANK_MARKS else PAGE * -(-count // (PAGE * _MAX_RANK_MARKS))
    lows, highs = np.asarray(series.lows, dtype=float), np.asarray(series.highs, dtype=float)
    max_rank = float(max(series.ranks[-1], highs.max()))
    marks = []
    for start in range(0, count, step):
        end = min(start + step, count)
        bands = series.bands[start:end]
        marks.append(
            RankMark(
                first=series.ranks[start],
                last=series.ranks[end - 1],
                page=start // PAGE + 1,
                x=start / count,
                width=(end - start) / count,
                low=float(np.median(lows[start:end])) / max_rank,
                high=float(np.median(highs[start:end])) / max_rank,
                middle=float(np.median(series.ranks[start:end])) / max_rank,
                clearly_in=bands.count("in"),
                for_people=bands.count("human"),
                clearly_out=bands.count("out"),
            )
        )
    return RankCurve(tuple(marks), count, step, _locate_cutoff(series), series.shortlist_size)


def _locate_cutoff(series: RankSeries) -> float | None:
    if series.shortlist_size is None:
        return None
    return int(np.searchsorted(series.ranks, series.shortlist_size, side="right")) / len(series.ranks)


def _to_microseconds(times: Sequence[dt.datetime], origin: dt.datetime) -> NDArray[np.int64]:
    """Return times in microseconds after `origin`. They are exact, because the table filters by the interval
    boundaries."""
    microsecond = dt.timedelta(microseconds=1)
    return np.asarray([(time - origin) // microsecond for time in times], dtype=np.int64)
