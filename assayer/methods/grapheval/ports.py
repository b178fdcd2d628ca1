"""What GraphEval asks of those who score, of those who find neighbours and of those who keep the graph."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.arrays import GraphArrays
from assayer.methods.grapheval.records import Added, GraphContents, GraphPlan, NewIdea
from assayer.ports import Vectors

__all__ = ["Found", "Neighbours", "Scorer", "ViewpointGraph"]


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


class Found(NamedTuple):
    """(queries, limit) each, best first; where fewer were found, rows are −1 and cosines −inf."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


class Neighbours(Protocol):
    """Vectors by row, and the rows nearest to a vector. Holds no truth: it can be filled again from the graph."""

    def __len__(self) -> int: ...

    def add(self, vectors: Vectors) -> None:
        """Appends rows."""
        ...

    def clear(self) -> None: ...

    def nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> Found:
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

    async def add(self, ideas: Sequence[NewIdea]) -> Added:
        """All of them or none; ideas that are there with the same words are left alone. Time is linear in the new
        viewpoints, each of which asks once for its neighbours."""
        ...

    async def version(self) -> str:
        """Names the exact contents. Raises InputError where there is no graph."""
        ...

    async def load(self) -> GraphContents:
        """Raises InputError where there is no graph."""
        ...
