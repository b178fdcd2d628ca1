"""Ports of GraphEval: the scorer, the neighbour index and the store of the viewpoint graph."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.graph.records import AdditionSummary, GraphContents, GraphPlan, PreparedIdea
from assayer.ports import Vectors


class Scorer(Protocol):
    """Estimator of class probabilities for ideas in a graph: label propagation, a network, or a baseline."""

    @property
    def name(self) -> str:
        """Name of the scorer, including everything that affects its results."""
        ...

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return probabilities, shape (len(rows), classes). Labels of the scored ideas are treated as unknown
        even if the graph has them. A row is NaN if no score is possible."""
        ...


class NearestViewpoints(NamedTuple):
    """Nearest rows and their cosines, each of shape (queries, limit), best first. Missing results have row −1 and
    cosine −inf."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


class NeighbourIndex(Protocol):
    """Index of vectors by row, which finds the rows nearest to a vector. It can be rebuilt from the graph at any
    time."""

    def __len__(self) -> int: ...

    def add(self, vectors: Vectors) -> None:
        """Append vectors as new rows."""
        ...

    def clear(self) -> None: ...

    def nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> NearestViewpoints:
        """Find the nearest rows. `allowed`, shape (rows,), restricts the search to some rows."""
        ...


class ViewpointGraph(Protocol):
    """Store of a named graph that grows. Raises InputError for unusable ideas, and StorageError."""

    async def plan(self) -> GraphPlan | None:
        """Return the plan, or None before the graph is created."""
        ...

    async def create(self, plan: GraphPlan) -> None:
        """Create the graph. Does nothing if a graph with the same plan exists; raises InputError if a graph
        with another plan exists."""
        ...

    async def add(self, ideas: Sequence[PreparedIdea]) -> AdditionSummary:
        """Add all ideas or none; ideas already stored with the same words are left unchanged. Time is linear in the
        number of new viewpoints, each of which needs one neighbour query."""
        ...

    async def version(self) -> str:
        """Return an identifier of the exact contents. Raises InputError if there is no graph."""
        ...

    async def load(self) -> GraphContents:
        """Load the whole graph. Raises InputError if there is no graph."""
        ...
