"""Exact search in GPU memory, where multiplying all vectors is faster than probing an index.

Rows are sorted by date, so the rows before a cutoff are a prefix. Rows that a mask excludes are removed from the
results afterwards, so more results than needed are fetched."""

import math
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors
from index.segments.approximate_index import Candidates
from index.segments.gpus import MAX_SELECTED, GpuMatches, Gpus
from index.segments.row_filter import RowFilter

_PER_RESULT, _SPARE = 4, 8
"""Number of candidates per result, and minimum number of additional candidates, to make up for half precision."""
_MORE_THAN_EXPECTED = 1.5
"""Factor by which more candidates are fetched, because excluded rows are not spread evenly."""
_MIN_ROWS_PER_GPU = 131_072
"""Minimum number of rows per GPU. With fewer rows, a single GPU is faster than two."""
_MAX_VALUES = 2**31 - 1
"""Maximum number of values in a part, so that their positions fit in 32 bits."""
_NEXT = count()
"""Counter that spreads small indexes over the GPUs; otherwise all would be on the first."""


class _Part(NamedTuple):
    gpu: int
    start: int
    rows: Any
    """Handle of the rows, as returned by `Gpus.put`."""
    length: int


class GpuVectors:
    """An index's vectors in GPU memory, in half precision, divided into contiguous parts, each on a single GPU."""

    def __init__(
        self, vectors: Vectors, gpus: Gpus, min_rows: int = _MIN_ROWS_PER_GPU, max_values: int = _MAX_VALUES
    ) -> None:
        """Copy the vectors to the GPUs. Raises ConfigurationError if there is not enough memory."""
        parts = max(1, min(gpus.count, len(vectors) // min_rows), math.ceil(vectors.size / max_values))
        bounds = np.linspace(0, len(vectors), parts + 1).astype(int).tolist()
        first = next(_NEXT)
        self._gpus = gpus
        self._parts = [
            _Part(gpu, start, gpus.put(gpu, vectors[start:stop]), stop - start)
            for number, (start, stop) in enumerate(pairwise(bounds))
            for gpu in [(first + number) % gpus.count]
        ]

    def find_candidates(self, queries: Vectors, limit: int, row_filter: RowFilter) -> Candidates | None:
        """Return the best allowed rows for each query, best first: somewhat more than `limit` if there are enough.
        Returns None if so many rows are excluded that a GPU cannot select enough; the CPU index must then be used."""
        needed = min(row_filter.count, max(limit + _SPARE, min(limit * _PER_RESULT, MAX_SELECTED)))
        if not needed:
            return np.empty((len(queries), 0), np.int64)
        requested = needed
        if row_filter.count < row_filter.rows:
            requested = math.ceil(needed * _MORE_THAN_EXPECTED * row_filter.rows / row_filter.count)
        requested = min(requested, row_filter.rows, MAX_SELECTED)
        if requested < needed:
            return None
        best = self._find_best(queries, requested, row_filter.rows)
        if row_filter.mask is None:
            return best
        passes = row_filter.mask[best]
        if passes.sum(axis=1).min() < needed:
            return None
        first = np.argsort(~passes, axis=1, kind="stable")[:, :needed]
        return np.take_along_axis(best, first, 1)

    def _find_best(self, queries: Vectors, limit: int, rows: int) -> Candidates:
        """Return the best among the first `rows` rows, best first."""
        searched_parts = [part for part in self._parts if part.start < rows]

        def find_nearest(part: _Part) -> GpuMatches:
            return self._gpus.find_nearest(part.gpu, queries, part.rows[: rows - part.start], limit)

        if len(searched_parts) == 1:
            return find_nearest(searched_parts[0]).rows
        matches = list(_get_thread_pool().map(find_nearest, searched_parts))
        scores = np.hstack([part_matches.scores for part_matches in matches])
        numbers = np.hstack(
            [part_matches.rows + part.start for part_matches, part in zip(matches, searched_parts, strict=True)]
        )
        order: NDArray[np.int64] = np.argsort(-scores, axis=1, kind="stable")[:, :limit]
        return np.take_along_axis(numbers, order, 1)


@cache
def _get_thread_pool() -> ThreadPoolExecutor:
    """Return the thread pool for using several GPUs at once. FAISS releases the interpreter lock while a GPU works."""
    return ThreadPoolExecutor(thread_name_prefix="gpu")
