"""Exact search in GPU memory, where multiplying all vectors is faster than probing an index.

Rows are sorted by date, so the rows before a cutoff are a prefix. Rows excluded by a mask are removed from the results
afterwards, so more results are fetched than needed."""

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

_PER_RESULT, _SPARE = 4, 8
"""Candidates per result, and minimum number of additional candidates, to make up for half precision."""
_MORE_THAN_EXPECTED = 1.5
"""Factor for the number of candidates fetched, because excluded rows are not spread evenly."""
_FEWEST_ROWS = 131_072
"""Minimum rows per GPU; multiplying fewer rows is faster than using a second GPU."""
_MOST_NUMBERS = 2**31 - 1
"""Maximum number of values in a part, so that positions fit in 32 bits."""
_NEXT = count()
"""Counter that spreads small indexes over the GPUs, which would otherwise all be on the first."""


class _Part(NamedTuple):
    gpu: int
    start: int
    rows: Any
    """Handle of the rows, as returned by `Gpus.put`."""
    length: int


class GpuVectors:
    """Vectors of an index on GPUs in half precision, divided into contiguous parts, each on a single GPU."""

    def __init__(
        self, vectors: Vectors, gpus: Gpus, fewest_rows: int = _FEWEST_ROWS, most_numbers: int = _MOST_NUMBERS
    ) -> None:
        """Copy the vectors to the GPUs. Raises ConfigurationError if there is not enough memory."""
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
        """Return the best allowed rows for each query, best first, and somewhat more than `limit` if there are enough.
        Return None if so many rows are excluded that a GPU cannot select enough; the CPU index must then be used."""
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
        """Return the best of the first `rows` rows, best first."""
        searched = [part for part in self._parts if part.start < rows]

        def nearest(part: _Part) -> GpuMatches:
            return self._gpus.nearest(part.gpu, queries, part.rows[: rows - part.start], limit)

        if len(searched) == 1:
            return nearest(searched[0]).rows
        matches = list(_threads().map(nearest, searched))
        scores = np.hstack([item.scores for item in matches])
        numbers = np.hstack([item.rows + part.start for item, part in zip(matches, searched, strict=True)])
        order: NDArray[np.int64] = np.argsort(-scores, axis=1, kind="stable")[:, :limit]
        return np.take_along_axis(numbers, order, 1)


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads that use several GPUs at once; FAISS releases the interpreter lock while a GPU works."""
    return ThreadPoolExecutor(thread_name_prefix="gpu")
