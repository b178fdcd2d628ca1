"""How the papers of all shards together fit the whole: what `CorpusFit` of a text is held against."""

import asyncio
from collections.abc import Sequence

import numpy as np

from assayer.ports import Embedder, Vectors
from index.filters import EVERYTHING
from index.fit import FEWEST, SAMPLE, FitCalibration, calibrate, fit_passages, nearness, neighbours_for
from index.searching.reader import Reader
from index.segments.dense import Nearest
from index.shards.merging import key_of, merged_nearest

__all__ = ["measure_fit"]

_EMBEDDED_AT_ONCE = 128


async def measure_fit(
    readers: Sequence[Reader], embedder: Embedder, before: FitCalibration | None
) -> FitCalibration | None:
    """Of a sample from every shard in proportion, each paper's own abstract with the paper left out. `before` is kept
    while the corpus has about the same size; None for one too small to measure."""
    papers = sum(reader.counting(EVERYTHING) for reader in readers)
    if papers < FEWEST:
        return None
    if before is not None and 0.9 <= papers / before.papers <= 1.1:
        return before
    sample = _sample(readers)
    keys = [key_of(*place) for place in sample]
    windows = [fit_passages(readers[shard].paper(unit).abstract) for shard, unit in sample]
    texts = [window for some in windows for window in some]
    vectors = [
        await embedder.embed(texts[start : start + _EMBEDDED_AT_ONCE], "query")
        for start in range(0, len(texts), _EMBEDDED_AT_ONCE)
    ]
    groups = np.split(np.concatenate(vectors), np.cumsum([len(some) for some in windows])[:-1])
    neighbours = neighbours_for(papers)

    def search(asked: Vectors, limit: int) -> list[Nearest]:
        each = [reader.nearest(asked, limit, EVERYTHING) for reader in readers]
        return [merged_nearest(found, limit) for found in zip(*each, strict=True)]

    def measure() -> FitCalibration:
        values = [nearness(some, search, neighbours, without=key) for key, some in zip(keys, groups, strict=True)]
        return calibrate(values, neighbours, papers)

    return await asyncio.to_thread(measure)


def _sample(readers: Sequence[Reader]) -> list[tuple[int, int]]:
    """Shards and units, evenly from all; of what is hidden there is less."""
    starts = np.cumsum([0, *map(len, readers)])
    places = np.unique(np.linspace(0, starts[-1] - 1, SAMPLE).astype(np.int64))
    shards = np.searchsorted(starts, places, side="right") - 1
    pairs = zip(shards.tolist(), (places - starts[shards]).tolist(), strict=True)
    return [(shard, unit) for shard, unit in pairs if readers[shard].counts(unit, EVERYTHING)]
