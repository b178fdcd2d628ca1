"""The nearest of all rows, by a product with every one of them."""

import numpy as np

from assayer.ports import Vectors
from index.segments.kinds import Candidates

__all__ = ["exact"]

_ROWS_AT_ONCE = 65_536


def exact(vectors: Vectors, queries: Vectors, limit: int) -> Candidates:
    """The best so many rows for each query, in no order."""
    if limit >= len(vectors):
        return np.broadcast_to(np.arange(len(vectors), dtype=np.int64), (len(queries), len(vectors)))
    best = np.empty((len(queries), 0), np.int64)
    scores = np.empty((len(queries), 0), np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = np.asarray(vectors[start : start + _ROWS_AT_ONCE], np.float32)
        scores = np.hstack([scores, queries @ block.T])
        best = np.hstack([best, np.broadcast_to(np.arange(start, start + len(block)), (len(queries), len(block)))])
        if scores.shape[1] > limit:
            kept = np.argpartition(scores, -limit, axis=1)[:, -limit:]
            scores, best = np.take_along_axis(scores, kept, 1), np.take_along_axis(best, kept, 1)
    return best
