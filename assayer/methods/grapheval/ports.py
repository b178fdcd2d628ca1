"""Ports for GraphEval: the scorer and the neighbour index."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.ports import Vectors


class Scorer(Protocol):
    """Estimates class probabilities for ideas in a graph: label propagation, a network, or a baseline."""

    @property
    def name(self) -> str:
        """The scorer's name, including everything that affects its results."""
        ...

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return probabilities, shape (len(rows), classes). The labels of the ideas to score are treated as unknown
        even if the graph has them. A row is NaN if no score is possible."""
        ...


class NearestViewpoints(NamedTuple):
    """The nearest rows and their cosines, each of shape (queries, limit), best first. Missing results have row −1 and
    cosine −inf."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


class NeighbourIndex(Protocol):
    """Index of vectors that finds the rows nearest to a vector. It can be rebuilt from the graph at any time."""

    def __len__(self) -> int: ...

    def add(self, vectors: Vectors) -> None:
        """Append vectors as new rows."""
        ...

    def clear(self) -> None: ...

    def find_nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> NearestViewpoints:
        """Find the nearest rows. `allowed`, shape (rows,), restricts the search to some rows."""
        ...
