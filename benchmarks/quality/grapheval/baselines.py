"""Nearest ideas: a scorer used only for comparison in the benchmark."""

import numpy as np

from assayer.methods.grapheval.graph.arrays import GraphArrays, Rows
from assayer.methods.grapheval.scoring.baselines import Features, Floats, compute_idea_vectors, find_labelled_rows


class NearestIdeas:
    """Scores by the labels of the known ideas with the nearest vectors (by default mean viewpoints), one vote each."""

    def __init__(self, neighbours: int = 20, name: str | None = None, features: Features | None = None) -> None:
        self.name = f"{neighbours} nearest neighbours" if name is None else name
        self._neighbours = neighbours
        self._features = compute_idea_vectors if features is None else features

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        known_rows = find_labelled_rows(graph, rows)
        vectors = self._features(graph)
        nearest = np.argsort(-(vectors[rows] @ vectors[known_rows].T), axis=1, kind="stable")[:, : self._neighbours]
        votes = np.eye(len(graph.classes))[graph.labels[known_rows]]
        means: Floats = votes[nearest].mean(axis=1)
        return means
