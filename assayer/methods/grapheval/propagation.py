"""GraphEval-LP: labels flow from labelled viewpoints along weighted edges. Nothing is trained.

After "GraphEval: A Lightweight Graph-Based LLM Framework for Idea Evaluation" (2025), section 4, equation 2:
d_i ← (d_i + Σ_j w_ij d_j) / Z_i with weights that sum to 1 around each viewpoint. All viewpoints move at once, from
the state of the round before; Z_i makes d_i sum to 1. Round by round, on one CPU, in time linear in the edges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.options import MOST_ROUNDS

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["LabelPropagation", "Propagated", "propagate"]

Distributions = NDArray[np.float64]
"""Rows sum to 1; a row of zeros has been reached by no label."""


class Propagated(NamedTuple):
    """Where the labels came to rest."""

    nodes: Distributions
    """(n, classes)"""
    rounds: int
    converged: bool
    """No viewpoint's most probable class changed in the last round."""


def propagate(graph: GraphArrays, rounds: int = MOST_ROUNDS) -> Propagated:
    """From the labels that the graph knows, until the most probable classes stand still, at most `rounds` times."""
    weights = _normalised(graph.adjacency())
    state = _initial(graph)
    leaders = _leaders(state)
    for done in range(1, rounds + 1):
        state = _scaled(state + weights @ state)
        before, leaders = leaders, _leaders(state)
        if np.array_equal(before, leaders):
            return Propagated(state, done, converged=True)
    return Propagated(state, rounds, converged=False)


def _initial(graph: GraphArrays) -> Distributions:
    """One-hot for the viewpoints of labelled ideas, zero for the others."""
    labels = graph.labels[graph.idea_of]
    state = np.zeros((len(labels), len(graph.classes)))
    known = np.flatnonzero(labels != UNKNOWN)
    state[known, labels[known]] = 1.0
    return state


def _normalised(weights: "sp.csr_array[np.float64, tuple[int, int]]") -> "sp.csr_array[np.float64, tuple[int, int]]":
    """Each row divided by its sum, so that a viewpoint's weights sum to 1; each direction of an edge has its own."""
    sizes = np.diff(weights.indptr)
    sums: NDArray[np.float64] = np.asarray(weights @ np.ones(weights.shape[1]))
    weights.data /= np.repeat(sums, sizes)
    return weights


def _scaled(state: Distributions) -> Distributions:
    # A product with ones: several times quicker than a sum over so few columns.
    sums = (state @ np.ones(state.shape[1]))[:, None]
    scaled: Distributions = np.divide(state, sums, out=np.zeros_like(state), where=sums > 0)
    return scaled


def _leaders(state: Distributions) -> NDArray[np.int64]:
    """The most probable class of each viewpoint, UNKNOWN where no label has arrived."""
    leaders: NDArray[np.int64] = state.argmax(axis=1)
    leaders[state @ np.ones(state.shape[1]) == 0] = UNKNOWN
    return leaders


@dataclass(frozen=True)
class LabelPropagation:
    """`Scorer`: the sum of an idea's viewpoints after propagation."""

    rounds: int = MOST_ROUNDS
    prior: Sequence[float] | None = None
    """Shares of the classes where the idea will be judged. Scores are multiplied by this share over the share in the
    graph (Bayes' rule for another prior). None leaves the graph's shares as they are."""

    @property
    def name(self) -> str:
        prior = "" if self.prior is None else f", prior {'/'.join(f'{share:g}' for share in self.prior)}"
        return f"label propagation, {self.rounds} rounds{prior}"

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> Distributions:
        """Raises ValueError for a prior that does not fit the classes."""
        hidden = graph.with_unknown(rows)
        nodes = propagate(hidden, self.rounds).nodes
        columns = (np.bincount(graph.idea_of, column, len(graph.ideas)) for column in nodes.T)
        sums = np.stack(list(columns), axis=1)
        scores = _scaled(sums[rows] * self._odds(hidden))
        scores[~scores.any(axis=1)] = np.nan
        return scores

    def _odds(self, graph: GraphArrays) -> NDArray[np.float64]:
        if self.prior is None:
            return np.ones(len(graph.classes))
        prior = np.asarray(self.prior, np.float64)
        if prior.shape != (len(graph.classes),) or (prior < 0).any() or not prior.any():
            raise ValueError(f"The prior needs one share, 0 or more, for each of {len(graph.classes)} classes.")
        known = graph.labels[graph.labels != UNKNOWN]
        counts = np.bincount(known, minlength=len(prior)).astype(np.float64)
        return np.divide(prior, counts, out=np.zeros_like(prior), where=counts > 0)
