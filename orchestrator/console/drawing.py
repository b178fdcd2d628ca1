"""Marks for plots: what a template draws as SVG, in shares of its box. They are as many as bins, however many proposals
there are; each knows where the table shows the proposals behind it."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchestrator.store.call_series import RankSeries
from orchestrator.store.call_tables import PAGE

__all__ = ["RankCurve", "RankMark", "ScoreBar", "TimeMark", "TimePlot", "distribution", "over_time", "rank_curve"]

_SCORE_BINS = 20
_TIME_BINS = 40
_MOST_RANK_MARKS = 200
_QUANTILES = (0.1, 0.5, 0.9)


class ScoreBar(NamedTuple):
    low: int
    high: int
    """Scores, 0 to 100."""
    proposals: int
    height: float
    """0 to 1, of the highest."""


class TimeMark(NamedTuple):
    """What ended in one stretch of time."""

    start: dt.datetime
    end: dt.datetime
    """The first moment after it."""
    proposals: int
    x: float
    """Where the stretch begins, 0 to 1."""
    low: float
    middle: float
    high: float
    most: float
    """What a tenth, half and nine tenths of them stay below, and the highest; 0 to 1, of the highest of all."""
    median: float
    highest: float
    """Likewise, in their unit."""


class TimePlot(NamedTuple):
    marks: tuple[TimeMark, ...]
    width: float
    """Of a stretch, 0 to 1."""
    first: dt.datetime
    last: dt.datetime
    most: float


class RankMark(NamedTuple):
    """Some that follow each other in a ranking; one, where there are few."""

    first: int
    last: int
    page: int
    """Of the table by rank, where they begin."""
    x: float
    width: float
    low: float
    high: float
    at: float
    """Middle rank, and where its intervals begin and end in the middle; 0 (the best) to 1."""
    clearly_in: int
    for_people: int
    clearly_out: int


class RankCurve(NamedTuple):
    marks: tuple[RankMark, ...]
    proposals: int
    each: int
    """How many ranks a mark stands for."""
    cut: float | None
    """Where the ranking's places end, 0 to 1."""
    places: int | None


def distribution(scores: Sequence[float]) -> list[ScoreBar]:
    """Of scores from 0 to 1; a score on a border belongs above it."""
    step = 100 // _SCORE_BINS
    borders = np.arange(0, 100 + step, step) / 100
    counts = np.histogram(np.asarray(scores, dtype=float), borders)[0].tolist()
    most = max(counts) or 1
    return [ScoreBar(step * n, step * (n + 1), one, one / most) for n, one in enumerate(counts)]


def over_time(ended: Sequence[dt.datetime], values: Sequence[float | None]) -> TimePlot | None:
    """By when they ended; what has no value is left out. None: nothing has."""
    figures = np.asarray(values, dtype=float)
    known = ~np.isnan(figures)
    if not known.any():
        return None
    origin = min(ended)
    moments = _microseconds(ended, origin)
    span = int(moments.max()) + 1
    width = -(-span // _TIME_BINS)
    places = moments // width
    most = float(figures[known].max()) or 1.0
    marks = []
    for place in np.unique(places[known]).tolist():
        inside = figures[known & (places == place)]
        low, middle, high = np.quantile(inside, _QUANTILES).tolist()
        highest = float(inside.max())
        start = origin + dt.timedelta(microseconds=place * width)
        end = start + dt.timedelta(microseconds=width)
        shares = (low / most, middle / most, high / most, highest / most)
        marks.append(TimeMark(start, end, len(inside), place / _TIME_BINS, *shares, middle, highest))
    return TimePlot(tuple(marks), 1 / _TIME_BINS, origin, max(ended), most)


def rank_curve(series: RankSeries) -> RankCurve | None:
    """None: nobody is ranked. Each mark is one proposal, or as many as some pages of the table hold."""
    count = len(series.ranks)
    if not count:
        return None
    each = 1 if count <= _MOST_RANK_MARKS else PAGE * -(-count // (PAGE * _MOST_RANK_MARKS))
    lows, highs = np.asarray(series.lows, dtype=float), np.asarray(series.highs, dtype=float)
    most = float(max(series.ranks[-1], highs.max()))
    marks = []
    for start in range(0, count, each):
        end = min(start + each, count)
        bands = series.bands[start:end]
        marks.append(
            RankMark(
                first=series.ranks[start],
                last=series.ranks[end - 1],
                page=start // PAGE + 1,
                x=start / count,
                width=(end - start) / count,
                low=float(np.median(lows[start:end])) / most,
                high=float(np.median(highs[start:end])) / most,
                at=float(np.median(series.ranks[start:end])) / most,
                clearly_in=bands.count("in"),
                for_people=bands.count("human"),
                clearly_out=bands.count("out"),
            )
        )
    return RankCurve(tuple(marks), count, each, _cut(series), series.cut)


def _cut(series: RankSeries) -> float | None:
    if series.cut is None:
        return None
    return int(np.searchsorted(series.ranks, series.cut, side="right")) / len(series.ranks)


def _microseconds(moments: Sequence[dt.datetime], origin: dt.datetime) -> NDArray[np.int64]:
    """After `origin`: exact, as the borders between stretches are looked up in the database."""
    one = dt.timedelta(microseconds=1)
    return np.asarray([(moment - origin) // one for moment in moments], dtype=np.int64)
