"""Measures on a corpus's own papers what is usual in its field: what `CorpusFit` of a text is held against."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import numpy as np

from assayer.ports import Vectors
from index.filters import EVERYTHING
from index.fit import FEWEST, SAMPLE, FitCalibration, Search, calibrate, fit_passages, nearness, neighbours_for
from index.searching.reader import Reader

__all__ = ["Place", "measure_fit"]


class Place(NamedTuple):
    reader: int
    """Number among the readers."""
    unit: int


async def measure_fit(
    readers: Sequence[Reader],
    search: Search,
    number: Callable[[Place], int],
    embed: Callable[[Sequence[str]], Awaitable[Vectors]],
    before: FitCalibration | None,
) -> FitCalibration | None:
    """Of a sample from every reader in proportion, the statistic of each paper's own abstract with the paper left out.
    `search` asks all readers together, and `number` says what it calls a paper. `before` is kept while the corpus has
    about the same size; None for one too small to measure."""
    papers = sum(reader.counting(EVERYTHING) for reader in readers)
    if papers < FEWEST:
        return None
    if before is not None and 0.9 <= papers / before.papers <= 1.1:
        return before
    sample = _sample(readers)
    windows = [fit_passages(readers[place.reader].paper(place.unit).abstract) for place in sample]
    vectors = await embed([window for some in windows for window in some])
    groups = np.split(vectors, np.cumsum([len(some) for some in windows])[:-1])
    neighbours = neighbours_for(papers)

    def measure() -> FitCalibration:
        pairs = zip(sample, groups, strict=True)
        values = [nearness(some, search, neighbours, without=number(place)) for place, some in pairs]
        return calibrate(values, neighbours, papers)

    return await asyncio.to_thread(measure)


def _sample(readers: Sequence[Reader]) -> list[Place]:
    """Evenly from all; of what is hidden there is less."""
    starts = np.cumsum([0, *map(len, readers)])
    spaced = np.unique(np.linspace(0, starts[-1] - 1, SAMPLE).astype(np.int64))
    numbers = np.searchsorted(starts, spaced, side="right") - 1
    places = map(Place, numbers.tolist(), (spaced - starts[numbers]).tolist())
    return [place for place in places if readers[place.reader].counts(place.unit, EVERYTHING)]
