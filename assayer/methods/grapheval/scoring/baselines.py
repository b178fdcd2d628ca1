"""Logistic regression on words and on mean embeddings: baselines that a verdict must beat."""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays, Rows
from assayer.models import IdeaId

__all__ = ["IdeaLogistic", "TfidfLogistic", "idea_vectors", "labelled_rows", "labelled_rows_of_two_classes"]


Floats = NDArray[np.float64]

Features = Callable[[GraphArrays], NDArray[np.float32]]


class IdeaLogistic:
    """Logistic regression on one vector an idea, by default the mean of its viewpoints."""

    def __init__(self, name: str = "embedding + logistic regression", features: Features | None = None) -> None:
        self.name = name
        self._features = idea_vectors if features is None else features

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        from sklearn.linear_model import LogisticRegression

        known = labelled_rows_of_two_classes(graph, rows)
        vectors = self._features(graph)
        return fitted_probabilities(
            LogisticRegression(max_iter=1000), vectors[known], vectors[rows], graph.labels[known], graph
        )


class TfidfLogistic:
    """Logistic regression on the words of the ideas. The words' weights are learned from known ideas only."""

    name = "TF-IDF + logistic regression"

    def __init__(self, texts: Mapping[IdeaId, str]) -> None:
        self._texts = texts

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        """Raises InputError when the text of an idea is not there."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        known = labelled_rows_of_two_classes(graph, rows)
        words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
        train = words.fit_transform([self._text(graph.ideas[row]) for row in known])
        asked = words.transform([self._text(graph.ideas[row]) for row in rows])
        return fitted_probabilities(LogisticRegression(max_iter=1000), train, asked, graph.labels[known], graph)

    def _text(self, idea: IdeaId) -> str:
        try:
            return self._texts[idea]
        except KeyError:
            raise InputError(f"The text of idea {idea} is not there, so its words cannot be compared.") from None


class _Classifier(Protocol):
    classes_: NDArray[np.int16]

    def fit(self, x: object, y: object) -> object: ...
    def predict_proba(self, x: object) -> Floats: ...


def fitted_probabilities(
    classifier: _Classifier,
    train: NDArray[np.float32] | sp.csr_matrix[np.float64],
    asked: NDArray[np.float32] | sp.csr_matrix[np.float64],
    labels: NDArray[np.int16],
    graph: GraphArrays,
) -> Floats:
    """Probabilities of all classes; 0 for those that no known idea has."""
    classifier.fit(train, labels)
    probabilities = np.zeros((asked.shape[0], len(graph.classes)))
    probabilities[:, classifier.classes_] = classifier.predict_proba(asked)
    return probabilities


def idea_vectors(graph: GraphArrays) -> NDArray[np.float32]:
    """(i, d) mean of each idea's viewpoints, scaled to length 1; 0 for an idea without any."""
    sums = np.zeros((len(graph.ideas), graph.vectors.shape[1]), np.float32)
    np.add.at(sums, graph.idea_of, graph.vectors)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    means: NDArray[np.float32] = np.divide(sums, lengths, out=sums, where=lengths > 0)
    return means


def labelled_rows(graph: GraphArrays, rows: Rows) -> Rows:
    """Ideas with a label that are not asked about. Raises InputError when there is none."""
    known = np.setdiff1d(np.flatnonzero(graph.labels != UNKNOWN), rows).astype(np.int32)
    if not len(known):
        raise InputError(
            f"None of the graph's other {len(graph.ideas) - len(rows):,} ideas has a label.",
            "A verdict is learned from ideas whose outcome is known: add some with labels.",
        )
    return known


def labelled_rows_of_two_classes(graph: GraphArrays, rows: Rows) -> Rows:
    """`labelled_rows`. Raises InputError when all of them have the same label."""
    known = labelled_rows(graph, rows)
    present = np.unique(graph.labels[known])
    if len(present) < 2:
        raise InputError(
            f"All {len(known):,} ideas with a label have the same one, {graph.classes[present[0]]!r}.",
            "Learning to tell outcomes apart needs ideas of at least two.",
        )
    return known
