"""Scorers made of scorers: fewer edges, and a choice among candidates by what each says of ideas it was not shown."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.arrays import INTER, GraphArrays
from assayer.methods.grapheval.baselines import two_classes
from assayer.methods.grapheval.holdout import held_out, stratified_folds
from assayer.methods.grapheval.measures import auroc
from assayer.methods.grapheval.options import Options
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.propagation import LabelPropagation

__all__ = ["BestOf", "StrongestEdges", "propagation", "strongest"]

Rows = NDArray[np.int32]


def strongest(graph: GraphArrays, inter: int) -> GraphArrays:
    """Each viewpoint hears its `inter` nearest viewpoints of other ideas only. Edges inside ideas stay.

    The graph has an edge where either end is among the other's nearest, so a viewpoint near many hears many; after
    this it hears those that are nearest to itself, and edges have a direction.
    """
    order = np.lexsort((-graph.weights, graph.kinds != INTER, graph.targets))
    targets, between = graph.targets[order], graph.kinds[order] == INTER
    first = np.searchsorted(targets, targets, side="left")
    kept = np.sort(order[~between | (np.arange(len(order)) - first < inter)])
    return replace(
        graph,
        sources=graph.sources[kept],
        targets=graph.targets[kept],
        weights=graph.weights[kept],
        kinds=graph.kinds[kept],
    )


class StrongestEdges:
    """Another scorer on the graph's strongest edges between ideas."""

    def __init__(self, scorer: Scorer, inter: int) -> None:
        self.name = f"{scorer.name}, {inter} strongest edges"
        self._scorer = scorer
        self._inter = inter

    def score(self, graph: GraphArrays, rows: Rows) -> NDArray[np.float64]:
        return self._scorer.score(strongest(graph, self._inter), rows)


def propagation(options: Options) -> Scorer:
    """The scorer that needs no training, as the options have it."""
    scorer = LabelPropagation(options.rounds)
    return scorer if options.strongest is None else StrongestEdges(scorer, options.strongest)


class BestOf:
    """Asks the candidate with the highest AUROC on the known ideas, each held out once; of equals the first.

    So nothing about the asked ideas takes part in the choice.
    """

    def __init__(self, name: str, candidates: Sequence[Scorer], folds: int = 5, seed: int = 0) -> None:
        self.name = name
        self._candidates = tuple(candidates)
        self._folds = folds
        self._seed = seed

    def score(self, graph: GraphArrays, rows: Rows) -> NDArray[np.float64]:
        return self.choose(graph, rows).score(graph, rows)

    def choose(self, graph: GraphArrays, rows: Rows) -> Scorer:
        """Raises InputError when the known ideas have fewer than two labels."""
        known = two_classes(graph, rows)
        hidden = graph.with_unknown(rows)
        parts = stratified_folds(hidden, min(self._folds, len(known)), self._seed)
        truth = graph.labels[known]
        values = [auroc(truth, held_out(one, hidden, parts)[known]) for one in self._candidates]
        return self._candidates[int(np.argmax(values))]
