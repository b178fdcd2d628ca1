"""Does a corpus cover the field of a text? Measured on the corpus itself; docs/adr/0003-corpus-fit.md.

The statistic: cut the text into passages of about 80 words, take for each the mean cosine with its nearest
papers, and average over the passages. The same statistic of the corpus's own abstracts, each with its own
paper left out, says what is usual inside the field.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assayer.models import CorpusFit, Frozen
from assayer.ports import Vectors
from index.segments.dense import Nearest
from index.segments.passages import spans

__all__ = [
    "FEWEST",
    "SAMPLE",
    "STATISTIC",
    "FitCalibration",
    "Search",
    "calibrate",
    "fit_passages",
    "judge",
    "nearness",
    "neighbours_for",
]

Search: TypeAlias = Callable[[Vectors, int], Sequence[Nearest]]
"""For each vector so many of the nearest papers that count."""

FEWEST = 10
"""Papers; fewer cover no field."""
SAMPLE = 500
"""Papers whose fit is measured."""
_WORDS = 80
_FEWEST_NEIGHBOURS, _MOST_NEIGHBOURS = 3, 20
_GOOD = (0.05, 0.75)
_PARTIAL = (0.01, 0.65)
"""Quantile of the corpus's own papers, and the least share of their median. The second keeps the outliers of
a small or mixed corpus from lowering the bar to anything."""

STATISTIC = (FEWEST, _WORDS, _FEWEST_NEIGHBOURS, _MOST_NEIGHBOURS, _GOOD, _PARTIAL)
"""Constants that a calibration depends on."""


class FitCalibration(Frozen):
    """What the statistic is among the corpus's own papers."""

    neighbours: int
    papers: int
    """In the corpus when it was measured."""
    sample: int
    """Papers measured."""
    median: float
    good_from: float
    partial_from: float


def neighbours_for(papers: int) -> int:
    """How many nearest papers count: at most a tenth, so that a small corpus is not compared with its rim."""
    return max(_FEWEST_NEIGHBOURS, min(_MOST_NEIGHBOURS, papers // 10))


def fit_passages(text: str) -> list[str]:
    return [text[span.start : span.end].strip() for span in spans(text, _WORDS)]


def nearness(passages: Vectors, search: Search, neighbours: int, without: int | None = None) -> float:
    """Mean cosine with the nearest papers, over all passages; `without` is a paper that does not count."""
    extra = 0 if without is None else 1
    means = []
    for nearest in search(passages, neighbours + extra):
        others = nearest.similarities[nearest.rows != without]
        means.append(others[:neighbours].mean())
    return float(np.mean(means))


def calibrate(values: Sequence[float] | NDArray[np.float64], neighbours: int, papers: int) -> FitCalibration:
    """From the statistic of some of the corpus's own papers."""
    median = float(np.median(values))

    def bar(quantile: float, share: float) -> float:
        return round(max(float(np.quantile(values, quantile)), share * median), 4)

    return FitCalibration(
        neighbours=neighbours,
        papers=papers,
        sample=len(values),
        median=round(median, 4),
        good_from=bar(*_GOOD),
        partial_from=bar(*_PARTIAL),
    )


def judge(value: float, calibration: FitCalibration | None, papers: int, before: dt.date | None) -> CorpusFit:
    """`papers` are those published up to the cutoff."""
    when = f" published up to {before}" if before else ""
    if calibration is None or papers < FEWEST:
        reason = f"The corpus holds {papers} papers{when}; fewer than {FEWEST} cover no field."
        return CorpusFit(level="poor", value=round(value, 3), criterion=reason)
    level: Literal["good", "partial", "poor"] = "poor"
    if value >= calibration.partial_from:
        level = "good" if value >= calibration.good_from else "partial"
    return CorpusFit(
        level=level,
        value=round(value, 3),
        criterion=(
            f"Mean cosine of the idea's passages with the {calibration.neighbours} nearest of {papers:,} papers{when}. "
            f"Good from {calibration.good_from:.3f}, partial from {calibration.partial_from:.3f}: among the corpus's "
            f"own papers (median {calibration.median:.3f}) 5 % and 1 % lie lower, and neither bar is below 75 % "
            "and 65 % of the median."
        ),
    )
