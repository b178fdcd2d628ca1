"""Exact search in the memory of GPUs: multiplying all vectors there is faster than probing an index.

Rows are sorted by date, so what a cutoff leaves is a prefix of them. What a mask hides is taken out of the answer
afterwards: the best of all rows, less the hidden ones, are the best of the others as far as they go.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors
from index.segments.approximate_index import Candidates
from index.segments.gpus import MOST_SELECTED, GpuMatches, Gpus
from index.segments.row_filter import RowFilter

__all__ = ["GpuVectors"]

_PER_RESULT, _SPARE = 4, 8
"""Candidates for each result, and the fewest beyond them, to make up for questions in half precision."""
_MORE_THAN_EXPECTED = 1.5
"""Candidates fetched, against as many as it takes where hidden rows are spread evenly."""
_FEWEST_ROWS = 131_072
"""On each GPU: fewer are multiplied sooner than a second one is asked."""
_MOST_NUMBERS = 2**31 - 1
"""In a stretch, so that none of its places needs more than 32 bits."""
_NEXT = count()
"""So that not all small parts come to lie on the first GPU."""


class _Part(NamedTuple):
    gpu: int
    start: int
    rows: Any
    """What `Gpus.put` gave."""
    length: int


class GpuVectors:
    """The vectors of an index, two bytes a number, in stretches, each on one GPU; a GPU may have several."""

    def __init__(
        self, vectors: Vectors, gpus: Gpus, fewest_rows: int = _FEWEST_ROWS, most_numbers: int = _MOST_NUMBERS
    ) -> None:
        """Raises ConfigurationError where there is not enough memory."""
        parts = max(1, min(gpus.count, len(vectors) // fewest_rows), math.ceil(vectors.size / most_numbers))
        bounds = np.linspace(0, len(vectors), parts + 1).astype(int).tolist()
        first = next(_NEXT)
        self._gpus = gpus
        self._parts = [
            _Part(gpu, start, gpus.put(gpu, vectors[start:stop]), stop - start)
            for number, (start, stop) in enumerate(pairwise(bounds))
            for gpu in [(first + number) % gpus.count]
        ]

    def candidates(self, queries: Vectors, limit: int, allowed: RowFilter) -> Candidates | None:
        """For each query the best of the allowed rows, best first, some more than `limit` where there are. None where
        hidden rows leave too few of those that a GPU can select: the index on the CPU leaves them out."""
        needed = min(allowed.count, max(limit + _SPARE, min(limit * _PER_RESULT, MOST_SELECTED)))
        if not needed:
            return np.empty((len(queries), 0), np.int64)
        asked = needed
        if allowed.count < allowed.rows:
            asked = math.ceil(needed * _MORE_THAN_EXPECTED * allowed.rows / allowed.count)
        asked = min(asked, allowed.rows, MOST_SELECTED)
        if asked < needed:
            return None
        best = self._best(queries, asked, allowed.rows)
        if allowed.mask is None:
            return best
        passing = allowed.mask[best]
        if passing.sum(axis=1).min() < needed:
            return None
        first = np.argsort(~passing, axis=1, kind="stable")[:, :needed]
        return np.take_along_axis(best, first, 1)

    def _best(self, queries: Vectors, limit: int, rows: int) -> Candidates:
        """Of the first so many rows, the best first."""
        searched = [part for part in self._parts if part.start < rows]

        def nearest(part: _Part) -> GpuMatches:
            return self._gpus.nearest(part.gpu, queries, part.rows[: rows - part.start], limit)

        if len(searched) == 1:
            return nearest(searched[0]).rows
        found = list(_threads().map(nearest, searched))
        scores = np.hstack([one.scores for one in found])
        numbers = np.hstack([one.rows + part.start for one, part in zip(found, searched, strict=True)])
        order: NDArray[np.int64] = np.argsort(-scores, axis=1, kind="stable")[:, :limit]
        return np.take_along_axis(numbers, order, 1)


@cache
def _threads() -> ThreadPoolExecutor:
    """In which GPUs are asked at once: FAISS lets other threads run while one works."""
    return ThreadPoolExecutor(thread_name_prefix="gpu")
