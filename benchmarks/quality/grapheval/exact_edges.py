"""Finds all edges of a graph by exact comparison of all its viewpoints."""

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphEdges, build_undirected_edges
from assayer.methods.grapheval.graph.growth import EdgeEnds


def exact_edges(
    vectors: NDArray[np.float32],
    idea_of: NDArray[np.int32],
    intra: int = 5,
    inter: int = 10,
    asked: NDArray[np.bool_] | None = None,
    known: EdgeEnds | None = None,
) -> GraphEdges:
    """Join each viewpoint to its `intra` nearest of the same idea and its `inter` nearest of other ideas.

    The search is exact and takes n² steps. `asked` (ideas,) marks ideas that are no other idea's neighbour, as if each
    were asked about alone. `known` are edges between viewpoints of one idea, which then get no others among themselves.
    Cosines of 0 and below make no edge, because a negative weight has no meaning in label propagation."""
    ends: list[EdgeEnds] = [known] if known else []
    unheard = np.zeros(len(vectors), np.bool_) if asked is None else asked[idea_of]
    for start in range(0, len(vectors), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(vectors)))
        cosines = vectors[rows] @ vectors.T
        is_same_idea = idea_of[rows][:, None] == idea_of[None, :]
        inner_cosines = np.where(is_same_idea, cosines, -np.inf)
        inner_cosines[np.arange(len(rows)), rows] = -np.inf
        if known is None:
            ends.append(_nearest(rows, inner_cosines, intra))
        ends.append(_nearest(rows, np.where(is_same_idea | unheard, -np.inf, cosines), inter))
    if not ends:
        ends = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
    sources, targets, weights = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    return build_undirected_edges(sources, targets, weights, idea_of)


def _nearest(
    rows: NDArray[np.int64], cosines: NDArray[np.float32], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the `limit` largest entries of each row; of equal entries, the first."""
    limit = min(limit, cosines.shape[1])
    columns = np.argsort(-cosines, axis=1, kind="stable")[:, :limit]
    nearest_cosines = np.take_along_axis(cosines, columns, axis=1).ravel()
    is_kept = np.isfinite(nearest_cosines)
    return np.repeat(rows, limit)[is_kept], columns.ravel()[is_kept], nearest_cosines[is_kept].astype(np.float32)


_BLOCK = 1024
"""Number of rows whose cosines with all others are in memory at a time."""
