"""GraphEval-LP: propagate labels from labelled viewpoints along weighted edges, without training.

It follows "GraphEval: A Lightweight Graph-Based LLM Framework for Idea Evaluation" (2025), section 4, equation 2: d_i ←
(d_i + Σ_j w_ij d_j) / Z_i with weights that sum to 1 around each viewpoint. All viewpoints are updated at once from the
previous round's state; Z_i makes d_i sum to 1. A round runs on one CPU and takes time linear in the number of edges."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import INTER, UNKNOWN, GraphArrays

if TYPE_CHECKING:
    import scipy.sparse as sp


Distributions = NDArray[np.float64]
"""Each viewpoint's label distribution. Rows sum to 1, or to 0 if no label has reached the viewpoint."""

_MAX_ROUNDS = 5
"""Maximum number of rounds of label propagation."""


def propagate(graph: GraphArrays, rounds: int = _MAX_ROUNDS) -> Distributions:
    """Propagate the known labels until the most probable classes no longer change, for at most `rounds` rounds. Returns
    the distributions, shape (n, classes)."""
    weights = _normalise_weights(graph.build_adjacency())
    state = _build_initial_state(graph)
    leaders = _find_most_probable_classes(state)
    for _ in range(rounds):
        state = _normalise_rows(state + weights @ state)
        previous_leaders, leaders = leaders, _find_most_probable_classes(state)
        if np.array_equal(previous_leaders, leaders):
            break
    return state


def _build_initial_state(graph: GraphArrays) -> Distributions:
    """Return one-hot rows for the viewpoints of labelled ideas, and zero rows for the others."""
    labels = graph.labels[graph.idea_of]
    state = np.zeros((len(labels), len(graph.classes)))
    labelled_rows = np.flatnonzero(labels != UNKNOWN)
    state[labelled_rows, labels[labelled_rows]] = 1.0
    return state


def _normalise_weights(
    weights: "sp.csr_array[np.float64, tuple[int, int]]",
) -> "sp.csr_array[np.float64, tuple[int, int]]":
    """Divide each row by its sum, so that a viewpoint's weights sum to 1. An edge can then have different weights in
    its two directions."""
    sizes = np.diff(weights.indptr)
    sums: NDArray[np.float64] = np.asarray(weights @ np.ones(weights.shape[1]))
    weights.data /= np.repeat(sums, sizes)
    return weights


def _normalise_rows(state: Distributions) -> Distributions:
    # With so few columns, a product with ones is several times faster than a sum.
    sums = (state @ np.ones(state.shape[1]))[:, None]
    normalised_rows: Distributions = np.divide(state, sums, out=np.zeros_like(state), where=sums > 0)
    return normalised_rows


def _find_most_probable_classes(state: Distributions) -> NDArray[np.int64]:
    """Return each viewpoint's most probable class, or UNKNOWN if no label has reached it."""
    leaders: NDArray[np.int64] = state.argmax(axis=1)
    leaders[state @ np.ones(state.shape[1]) == 0] = UNKNOWN
    return leaders


def keep_strongest_edges(graph: GraphArrays, inter: int) -> GraphArrays:
    """Return the graph in which each viewpoint receives labels only from its `inter` nearest viewpoints in other ideas.
    Edges within ideas stay. By contrast, the original graph has an edge if either end is among the other's nearest
    viewpoints."""
    order = np.lexsort((-graph.weights, graph.kinds != INTER, graph.targets))
    targets, between = graph.targets[order], graph.kinds[order] == INTER
    first = np.searchsorted(targets, targets, side="left")
    kept_edges = np.sort(order[~between | (np.arange(len(order)) - first < inter)])
    return replace(
        graph,
        sources=graph.sources[kept_edges],
        targets=graph.targets[kept_edges],
        weights=graph.weights[kept_edges],
        kinds=graph.kinds[kept_edges],
    )


@dataclass(frozen=True)
class LabelPropagation:
    """Scorer that uses label propagation and sums the resulting distributions over an idea's viewpoints."""

    rounds: int = _MAX_ROUNDS
    strongest: int | None = None
    """Number of nearest viewpoints in other ideas from which each viewpoint receives labels; None for all edges."""

    @property
    def name(self) -> str:
        edges = "" if self.strongest is None else f", {self.strongest} strongest edges"
        return f"label propagation, {self.rounds} rounds{edges}"

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> Distributions:
        visible_graph = graph if self.strongest is None else keep_strongest_edges(graph, self.strongest)
        nodes = propagate(visible_graph.hide_labels(rows), self.rounds)
        columns = (np.bincount(graph.idea_of, column, len(graph.ideas)) for column in nodes.T)
        sums: Distributions = np.stack(list(columns), axis=1).astype(np.float64)
        scores = _normalise_rows(sums[rows])
        scores[~scores.any(axis=1)] = np.nan
        return scores


ALL_EDGES = LabelPropagation()
"""Propagation over all edges, as in the paper."""
FEW_EDGES = LabelPropagation(strongest=3)
"""Propagation over few edges, which does better than over many on real decisions: docs/evidence/grapheval.md."""
