"""What GraphEval asks of those who score."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.arrays import GraphArrays

__all__ = ["Scorer"]


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
