"""Finds all edges of a graph by exact comparison of all its viewpoints."""

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphEdges, build_undirected_edges
from assayer.methods.grapheval.graph.growth import EdgeEnds


def find_exact_edges(
    vectors: NDArray[np.float32],
    idea_of: NDArray[np.int32],
    intra: int = 5,
    inter: int = 10,
    is_asked: NDArray[np.bool_] | None = None,
    known_edges: EdgeEnds | None = None,
) -> GraphEdges:
    """Join each viewpoint to its `intra` nearest of the same idea and its `inter` nearest of other ideas.

    The search is exact and takes n² steps. `is_asked` (ideas,) marks ideas that are no other idea's neighbour, as if
    each were asked about alone. `known_edges` are edges between viewpoints of one idea, which then get no others among
    themselves. Cosines of 0 and below make no edge, because a negative weight has no meaning in label propagation."""
    edge_ends: list[EdgeEnds] = [known_edges] if known_edges else []
    is_excluded = np.zeros(len(vectors), np.bool_) if is_asked is None else is_asked[idea_of]
    for start in range(0, len(vectors), _BLOCK_ROWS):
        rows = np.arange(start, min(start + _BLOCK_ROWS, len(vectors)))
        cosines = vectors[rows] @ vectors.T
        is_same_idea = idea_of[rows][:, None] == idea_of[None, :]
        inner_cosines = np.where(is_same_idea, cosines, -np.inf)
        inner_cosines[np.arange(len(rows)), rows] = -np.inf
        if known_edges is None:
            edge_ends.append(_find_nearest(rows, inner_cosines, intra))
        edge_ends.append(_find_nearest(rows, np.where(is_same_idea | is_excluded, -np.inf, cosines), inter))
    if not edge_ends:
        edge_ends = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
    sources, targets, weights = (np.concatenate(parts) for parts in zip(*edge_ends, strict=True))
    return build_undirected_edges(sources, targets, weights, idea_of)


def _find_nearest(
    rows: NDArray[np.int64], cosines: NDArray[np.float32], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the `limit` largest entries of each row; of equal entries, the first."""
    limit = min(limit, cosines.shape[1])
    columns = np.argsort(-cosines, axis=1, kind="stable")[:, :limit]
    nearest_cosines = np.take_along_axis(cosines, columns, axis=1).ravel()
    is_kept = np.isfinite(nearest_cosines)
    return np.repeat(rows, limit)[is_kept], columns.ravel()[is_kept], nearest_cosines[is_kept].astype(np.float32)


_BLOCK_ROWS = 1024
"""Number of rows whose cosines with all others are in memory at a time."""
