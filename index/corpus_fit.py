"""Measure how well a corpus covers the field of a text, calibrated on the corpus itself; see docs/adr/0003.

The statistic is computed in three steps: split the text into passages of about 80 words, compute each passage's mean
cosine similarity to its nearest papers, and average over the third of the passages with the highest values. The others
are ignored because worked examples, code and schedules resemble no abstract even within the field. The same statistic
for the corpus's own abstracts, each computed without its own paper, shows which values are usual within the field."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assayer.models import CorpusFit, Filters, FitLevel, Frozen, Paper, Window
from assayer.ports import Vectors
from index.segments.passages import split_passages
from index.segments.row_filter import NO_FILTERS
from index.segments.vector_index import VectorMatches

NearestSearch: TypeAlias = Callable[[Vectors, int], Sequence[VectorMatches]]
"""Function that returns, for each vector, the requested number of nearest papers among those searched."""

MIN_PAPERS = 10
"""Minimum number of papers for measuring fit; fewer papers cannot cover a field."""
SAMPLE_SIZE = 500
"""Number of papers whose fit is measured for a calibration."""
_WORDS = 80
_PASSAGES_COUNTED = 3
"""One in this many of a text's passages counts, rounded up. Those nearest to the corpus are chosen."""
_MIN_NEIGHBOURS, _MAX_NEIGHBOURS = 3, 20
_GOOD = (0.05, 0.75)
_PARTIAL = (0.01, 0.65)
"""Thresholds for a good and a partial fit: a quantile over the corpus's own papers, but at least a share of their
median. The share keeps outliers in a small or mixed corpus from lowering the threshold too far."""

FIT_CONSTANTS = (MIN_PAPERS, _WORDS, _PASSAGES_COUNTED, _MIN_NEIGHBOURS, _MAX_NEIGHBOURS, _GOOD, _PARTIAL)
"""Constants that a calibration depends on."""


class FitCalibration(Frozen):
    """Distribution of the fit statistic among the corpus's own papers."""

    neighbours: int
    papers: int
    """Number of papers in the corpus at the time of measurement."""
    sample: int
    """Number of papers measured."""
    median: float
    good_from: float
    partial_from: float


def choose_neighbour_count(papers: int) -> int:
    """Return the number of nearest papers to average over: a tenth of the papers, between 3 and 20, so that a text in a
    small corpus is not compared with its most distant papers."""
    return max(_MIN_NEIGHBOURS, min(_MAX_NEIGHBOURS, papers // 10))


def select_fit_passages(text: str) -> list[str]:
    return [text[span.start : span.end].strip() for span in split_passages(text, _WORDS)]


def compute_mean_nearness(
    passages: Vectors, search: NearestSearch, neighbours: int, excluded_paper: int | None = None
) -> float:
    """Return the fit statistic: the mean cosine similarity to the nearest papers, over the third of the passages with
    the highest values. `excluded_paper` is the number of a paper to exclude."""
    excluded_count = 0 if excluded_paper is None else 1
    means = []
    for matches in search(passages, neighbours + excluded_count):
        similarities = matches.similarities[matches.rows != excluded_paper]
        means.append(similarities[:neighbours].mean())
    return float(np.mean(sorted(means, reverse=True)[: math.ceil(len(means) / _PASSAGES_COUNTED)]))


def calibrate_fit(values: Sequence[float] | NDArray[np.float64], neighbours: int, papers: int) -> FitCalibration:
    """Derive the thresholds from the fit statistic of a sample of the corpus's own papers."""
    median = float(np.median(values))

    def compute_threshold(quantile: float, share: float) -> float:
        return round(max(float(np.quantile(values, quantile)), share * median), 4)

    return FitCalibration(
        neighbours=neighbours,
        papers=papers,
        sample=len(values),
        median=round(median, 4),
        good_from=compute_threshold(*_GOOD),
        partial_from=compute_threshold(*_PARTIAL),
    )


def judge_fit(value: float, calibration: FitCalibration | None, papers: int, window: Window) -> CorpusFit:
    """Turn a value of the fit statistic into a level with an explanation. `papers` is the number of papers in the
    window."""
    period = _describe_window(window)
    if calibration is None or papers < MIN_PAPERS:
        reason = f"The corpus has {papers} papers{period}; fewer than {MIN_PAPERS} cannot cover a field."
        return CorpusFit(level="poor", value=round(value, 3), criterion=reason)
    level: FitLevel = "poor"
    if value >= calibration.partial_from:
        level = "good" if value >= calibration.good_from else "partial"
    return CorpusFit(
        level=level,
        value=round(value, 3),
        criterion=(
            f"Mean cosine of the idea's nearest passages with the {calibration.neighbours} nearest of {papers:,} "
            f"papers{period}. "
            f"Good from {calibration.good_from:.3f}, partial from {calibration.partial_from:.3f}: among the corpus's "
            f"own papers (median {calibration.median:.3f}) 5 % and 1 % score lower, and the thresholds are at least "
            "75 % and 65 % of the median."
        ),
    )


class SampledReader(Protocol):
    """Reader of a corpus or shard from which a sample can be drawn."""

    def __len__(self) -> int: ...

    def count_passing(self, filters: Filters) -> int: ...

    def passes_filters(self, unit: int, filters: Filters) -> bool: ...

    def get_paper(self, unit: int) -> Paper: ...


class SampledUnit(NamedTuple):
    reader: int
    """Index of the reader in the list of readers."""
    unit: int


def _describe_window(window: Window) -> str:
    if window.after is None:
        return f" published up to {window.before}" if window.before else ""
    return f" published from {window.after}" + (f" to {window.before}" if window.before else " on")


async def measure_fit(
    readers: Sequence[SampledReader],
    search: NearestSearch,
    number: Callable[[SampledUnit], int],
    embed: Callable[[Sequence[str]], Awaitable[Vectors]],
    earlier_calibration: FitCalibration | None,
) -> FitCalibration | None:
    """Calibrate the fit statistic on a sample drawn from every reader in proportion to its papers.

    The statistic is computed for each sampled paper's abstract with the paper itself left out. `search` queries all
    readers together, and `number` returns the number by which `search` identifies a paper. `earlier_calibration` is an
    earlier calibration, which is reused if the corpus still has about the same size. Returns None if the corpus is too
    small."""
    papers = sum(reader.count_passing(NO_FILTERS) for reader in readers)
    if papers < MIN_PAPERS:
        return None
    if earlier_calibration is not None and 0.9 <= papers / earlier_calibration.papers <= 1.1:
        return earlier_calibration
    sample = _sample(readers)
    passages_by_paper = [select_fit_passages(readers[place.reader].get_paper(place.unit).abstract) for place in sample]
    vectors = await embed([passage for passages in passages_by_paper for passage in passages])
    groups = np.split(vectors, np.cumsum([len(passages) for passages in passages_by_paper])[:-1])
    neighbours = choose_neighbour_count(papers)

    def measure() -> FitCalibration:
        pairs = zip(sample, groups, strict=True)
        values = [
            compute_mean_nearness(passages, search, neighbours, excluded_paper=number(place))
            for place, passages in pairs
        ]
        return calibrate_fit(values, neighbours, papers)

    return await asyncio.to_thread(measure)


def _sample(readers: Sequence[SampledReader]) -> list[SampledUnit]:
    """Sample papers evenly across all readers. Hidden papers are dropped, so the sample can be smaller than
    SAMPLE_SIZE."""
    starts = np.cumsum([0, *map(len, readers)])
    spaced_positions = np.unique(np.linspace(0, starts[-1] - 1, SAMPLE_SIZE).astype(np.int64))
    numbers = np.searchsorted(starts, spaced_positions, side="right") - 1
    places = map(SampledUnit, numbers.tolist(), (spaced_positions - starts[numbers]).tolist())
    return [place for place in places if readers[place.reader].passes_filters(place.unit, NO_FILTERS)]
