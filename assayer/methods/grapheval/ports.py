"""Ports of GraphEval: the scorer, the index of neighbours and the store of the viewpoint graph."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.graph.records import AdditionSummary, GraphContents, GraphPlan, PreparedIdea
from assayer.ports import Vectors

__all__ = ["NearestViewpoints", "NeighbourIndex", "Scorer", "ViewpointGraph"]


class Scorer(Protocol):
    """Tells how probable each class is for some ideas of a graph: label propagation, a network, a baseline."""

    @property
    def name(self) -> str:
        """With everything that changes its numbers."""
        ...

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """(len(rows), classes), rows of probabilities. Labels of the asked ideas count as unknown, whether or not
        the graph knows them. A row of NaN where nothing can be said."""
        ...


class NearestViewpoints(NamedTuple):
    """(queries, limit) each, best first; where fewer were found, rows are −1 and cosines −inf."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


class NeighbourIndex(Protocol):
    """Vectors by row, and the rows nearest to a vector. It can be rebuilt from the graph at any time."""

    def __len__(self) -> int: ...

    def add(self, vectors: Vectors) -> None:
        """Appends rows."""
        ...

    def clear(self) -> None: ...

    def nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> NearestViewpoints:
        """`allowed` (rows,) leaves only some rows to be found."""
        ...


class ViewpointGraph(Protocol):
    """One named graph that grows. Raises InputError for unusable ideas, StorageError."""

    async def plan(self) -> GraphPlan | None:
        """None before it is created."""
        ...

    async def create(self, plan: GraphPlan) -> None:
        """Does nothing where a graph of this plan is there; raises InputError where one of another plan is."""
        ...

    async def add(self, ideas: Sequence[PreparedIdea]) -> AdditionSummary:
        """All of them or none; ideas that are there with the same words are left alone. Time is linear in the new
        viewpoints, each of which asks once for its neighbours."""
        ...

    async def version(self) -> str:
        """Names the exact contents. Raises InputError where there is no graph."""
        ...

    async def load(self) -> GraphContents:
        """Raises InputError where there is no graph."""
        ...
