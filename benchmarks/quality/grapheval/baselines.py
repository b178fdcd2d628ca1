"""Scorers that only the benchmark compares with: label rates, nearest ideas, a choice among candidates."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays, Rows
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import (
    Features,
    Floats,
    idea_vectors,
    labelled_rows,
    labelled_rows_of_two_classes,
)
from assayer.methods.grapheval.scoring.holdout import held_out_scores, stratified_folds
from assayer.methods.grapheval.scoring.metrics import auroc

__all__ = ["BestOf", "Majority", "NearestIdeas"]


class Majority:
    """The rate of each label among the known ideas, whatever the idea."""

    name = "always-majority"

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        return np.tile(label_rates(graph, labelled_rows(graph, rows)), (len(rows), 1))


class NearestIdeas:
    """Labels of the known ideas whose vector is nearest, by default the mean viewpoint; one vote each."""

    def __init__(self, neighbours: int = 20, name: str | None = None, features: Features | None = None) -> None:
        self.name = f"{neighbours} nearest neighbours" if name is None else name
        self._neighbours = neighbours
        self._features = idea_vectors if features is None else features

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        known = labelled_rows(graph, rows)
        vectors = self._features(graph)
        nearest = np.argsort(-(vectors[rows] @ vectors[known].T), axis=1, kind="stable")[:, : self._neighbours]
        votes = np.eye(len(graph.classes))[graph.labels[known]]
        means: Floats = votes[nearest].mean(axis=1)
        return means


def label_rates(graph: GraphArrays, known: Rows) -> Floats:
    rates: Floats = np.bincount(graph.labels[known], minlength=len(graph.classes)) / len(known)
    return rates


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
        known = labelled_rows_of_two_classes(graph, rows)
        hidden = graph.with_unknown(rows)
        parts = stratified_folds(hidden, min(self._folds, len(known)), self._seed)
        truth = graph.labels[known]
        values = [auroc(truth, held_out_scores(one, hidden, parts)[known]) for one in self._candidates]
        return self._candidates[int(np.argmax(values))]
