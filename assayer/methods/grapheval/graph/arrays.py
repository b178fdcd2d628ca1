"""A viewpoint graph as arrays, and its edges."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import IdeaId

if TYPE_CHECKING:
    import scipy.sparse as sp


Rows = NDArray[np.int32]
"""Row numbers of ideas."""
INTRA, INTER = 0, 1
"""Kinds of edges: within an idea, and between different ideas."""
UNKNOWN = -1
"""Marks an idea without a label or without a date."""


class GraphEdges(NamedTuple):
    """A graph's edges; every undirected edge is listed twice, once in each direction."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32]
    """Cosine similarity of each edge, above 0."""
    kinds: NDArray[np.int8]


@dataclass(frozen=True)
class GraphArrays:
    """Graph of n viewpoints from i ideas, connected by e directed edges. Raises ValueError if the shapes do not
    match."""

    vectors: NDArray[np.float32]
    """One unit vector per viewpoint, shape (n, d)."""
    idea_of: NDArray[np.int32]
    """The row of each viewpoint's idea, shape (n,). Ascending, so that an idea's viewpoints are contiguous."""
    ideas: tuple[IdeaId, ...]
    labels: NDArray[np.int16]
    """Each idea's label as an index into `classes`, or UNKNOWN if it has none; shape (i,)."""
    dates: NDArray[np.int32]
    """Each idea's date in days since 1970-01-01, or UNKNOWN if it has none; shape (i,)."""
    classes: tuple[str, ...]
    """Names of the classes, from worst to best if they are ordered."""
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    """Each edge's target, shape (e,). Values propagate from source to target."""
    weights: NDArray[np.float32]
    """Cosine similarity of each edge, shape (e,). There are no edges with a cosine of 0 or less."""
    kinds: NDArray[np.int8]
    """Each edge's kind, INTRA or INTER; shape (e,)."""

    def __post_init__(self) -> None:
        nodes, ideas, edges = len(self.vectors), len(self.ideas), len(self.sources)
        if self.vectors.ndim != 2 or self.idea_of.shape != (nodes,):
            raise ValueError("Each viewpoint needs one vector and one idea.")
        if self.labels.shape != (ideas,) or self.dates.shape != (ideas,):
            raise ValueError("Each idea needs one label and one date; either can be UNKNOWN.")
        if not (len(self.targets) == len(self.weights) == len(self.kinds) == edges):
            raise ValueError("Each edge needs a source, a target, a weight and a kind.")
        if nodes and (self.idea_of.min() < 0 or self.idea_of.max() >= ideas or (np.diff(self.idea_of) < 0).any()):
            raise ValueError("Viewpoints must be grouped by idea, in the order of the ideas.")
        if ideas and not (self.labels.min() >= UNKNOWN and self.labels.max() < len(self.classes)):
            raise ValueError("Each label must be UNKNOWN or the index of a class.")
        if edges and (self.weights.min() <= 0 or max(self.sources.max(), self.targets.max()) >= nodes):
            raise ValueError("Each edge needs a positive weight and must join two existing viewpoints.")

    def build_adjacency(self) -> "sp.csr_array[np.float64, tuple[int, int]]":
        """Return the (n, n) adjacency matrix, with targets as rows and sources as columns: `adjacency() @ x` sums over
        each viewpoint's neighbours."""
        import scipy.sparse as sp

        nodes = len(self.vectors)
        entries = (self.weights.astype(np.float64), (self.targets, self.sources))
        return sp.csr_array(entries, shape=(nodes, nodes))

    def hide_labels(self, rows: NDArray[np.int32]) -> "GraphArrays":
        """Return the graph with the labels of the ideas in `rows` hidden."""
        labels = self.labels.copy()
        labels[rows] = UNKNOWN
        return replace(self, labels=labels)


def build_undirected_edges(
    sources: NDArray[np.integer],
    targets: NDArray[np.integer],
    weights: NDArray[np.float32],
    idea_of: NDArray[np.int32],
) -> GraphEdges:
    """Build edges in both directions for each distinct pair, sorted by target. Pairs without a positive weight are left
    out."""
    is_positive = weights > 0
    ends = np.stack([sources[is_positive], targets[is_positive]]).astype(np.int32)
    directed_ends = np.concatenate([ends, ends[::-1]], axis=1)
    doubled_weights = np.concatenate([weights[is_positive], weights[is_positive]]).astype(np.float32)
    _, first = np.unique(directed_ends[1].astype(np.int64) * len(idea_of) + directed_ends[0], return_index=True)
    kept_sources, kept_targets = directed_ends[0][first], directed_ends[1][first]
    kinds = np.where(idea_of[kept_sources] == idea_of[kept_targets], INTRA, INTER).astype(np.int8)
    return GraphEdges(kept_sources, kept_targets, doubled_weights[first], kinds)
