"""Figures for plots: what a template draws as SVG, in units of its box."""

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.store.call_tables import TableRow

__all__ = ["Bar", "Dot", "RankBar", "distribution", "over_time", "rank_bars"]

_BINS = 20


class Bar(NamedTuple):
    low: float
    high: float
    """Scores, 0 to 100."""
    proposals: int
    height: float
    """0 to 1, of the highest."""


class Dot(NamedTuple):
    x: float
    y: float
    """0 to 1."""
    title: str


class RankBar(NamedTuple):
    row: TableRow
    low: float
    high: float
    at: float
    """0 to 1, of all ranks."""


def distribution(scores: Sequence[float]) -> list[Bar]:
    """Of scores from 0 to 1."""
    counts = [0] * _BINS
    for score in scores:
        counts[min(_BINS - 1, int(score * _BINS))] += 1
    most = max(counts, default=0) or 1
    return [Bar(100 * n / _BINS, 100 * (n + 1) / _BINS, one, one / most) for n, one in enumerate(counts)]


def over_time(rows: Sequence[TableRow], values: Sequence[float | None]) -> list[Dot]:
    """In the order in which they ended; what has no value has no dot."""
    points = [
        (row.finished_at.timestamp(), value, row.title)
        for row, value in zip(rows, values, strict=True)
        if row.finished_at is not None and value is not None
    ]
    if not points:
        return []
    first, last = min(at for at, _, _ in points), max(at for at, _, _ in points)
    most = max(value for _, value, _ in points) or 1.0
    width = last - first or 1.0
    return [Dot((at - first) / width, value / most, title) for at, value, title in points]


def rank_bars(rows: Sequence[TableRow]) -> list[RankBar]:
    """From the best."""
    ranked = sorted(((row.rank, row) for row in rows if row.rank is not None), key=lambda pair: pair[0].rank)
    most = max(len(ranked), 1)
    return [RankBar(row, rank.low / most, rank.high / most, rank.rank / most) for rank, row in ranked]
