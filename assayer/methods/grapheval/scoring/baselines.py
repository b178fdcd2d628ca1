"""Baselines that a scorer must beat: class frequencies, and logistic regressions on length, on words and on mean
embeddings."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays, Rows
from assayer.methods.grapheval.scoring.fitted_logistic import FittedLogistic, fit_length, fit_vectors, fit_words
from assayer.models import IdeaId

Floats = NDArray[np.float64]

Features = Callable[[GraphArrays], NDArray[np.float32]]
FitTexts = Callable[[Sequence[str], NDArray[np.int16], int], FittedLogistic]

MAJORITY = "always-majority"
LENGTH = "length of the text"
TFIDF = "TF-IDF + logistic regression"
MEAN_VIEWPOINT = "mean viewpoint + logistic regression"
"""Names of scorers."""


class IdeaLogistic:
    """Logistic regression on one vector per idea, by default the mean of its viewpoints."""

    def __init__(self, name: str = MEAN_VIEWPOINT, features: Features | None = None) -> None:
        self.name = name
        self._features = compute_idea_vectors if features is None else features

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        return self.fit(graph, rows).score_vectors(self._features(graph)[rows])

    def fit(self, graph: GraphArrays, rows: Rows) -> FittedLogistic:
        """Fit the regression to the labelled ideas other than `rows`."""
        labelled_rows = find_labelled_rows_of_two_classes(graph, rows)
        return fit_vectors(self._features(graph)[labelled_rows], graph.labels[labelled_rows], len(graph.classes))


class _TextLogistic:
    """Logistic regression on the ideas' texts, trained on known ideas only."""

    def __init__(self, name: str, fit: FitTexts, texts: Mapping[IdeaId, str]) -> None:
        self.name = name
        self._fit, self._texts = fit, texts

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        """Score ideas by their texts. Raises InputError if an idea's text is missing."""
        return self.fit(graph, rows).score_texts(self._get_texts(graph, rows))

    def fit(self, graph: GraphArrays, rows: Rows) -> FittedLogistic:
        """Fit the regression to the labelled ideas other than `rows`. Raises InputError if an idea's text is
        missing."""
        labelled_rows = find_labelled_rows_of_two_classes(graph, rows)
        return self._fit(self._get_texts(graph, labelled_rows), graph.labels[labelled_rows], len(graph.classes))

    def _get_texts(self, graph: GraphArrays, rows: Rows) -> list[str]:
        return [self._get_text(graph.ideas[row]) for row in rows]

    def _get_text(self, idea: IdeaId) -> str:
        try:
            return self._texts[idea]
        except KeyError:
            raise InputError(f"The text of idea {idea} is missing, so its words cannot be compared.") from None


class TfidfLogistic(_TextLogistic):
    """Logistic regression on TF-IDF word weights, which are learned from known ideas only."""

    def __init__(self, texts: Mapping[IdeaId, str]) -> None:
        super().__init__(TFIDF, fit_words, texts)


class LengthLogistic(_TextLogistic):
    """Logistic regression on the number of characters. A scorer that does not beat it cannot claim to judge content."""

    def __init__(self, texts: Mapping[IdeaId, str]) -> None:
        super().__init__(LENGTH, fit_length, texts)


class Majority:
    """Baseline that predicts the known ideas' class frequencies for every idea."""

    name = MAJORITY

    def score(self, graph: GraphArrays, rows: Rows) -> Floats:
        labelled_rows = find_labelled_rows(graph, rows)
        rates: Floats = np.bincount(graph.labels[labelled_rows], minlength=len(graph.classes)) / len(labelled_rows)
        return np.tile(rates, (len(rows), 1))


def compute_idea_vectors(graph: GraphArrays) -> NDArray[np.float32]:
    """Return the mean of each idea's viewpoints, scaled to length 1; shape (i, d). The row of an idea without
    viewpoints is 0."""
    sums = np.zeros((len(graph.ideas), graph.vectors.shape[1]), np.float32)
    np.add.at(sums, graph.idea_of, graph.vectors)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    means: NDArray[np.float32] = np.divide(sums, lengths, out=sums, where=lengths > 0)
    return means


def find_labelled_rows(graph: GraphArrays, rows: Rows) -> Rows:
    """Return the labelled ideas that are not being scored. Raises InputError if there are none."""
    labelled_rows = np.setdiff1d(np.flatnonzero(graph.labels != UNKNOWN), rows).astype(np.int32)
    if not len(labelled_rows):
        raise InputError(
            f"None of the other {len(graph.ideas) - len(rows):,} ideas in the graph has a label.",
            "Add labelled ideas: verdicts are predicted from ideas whose outcome is known.",
        )
    return labelled_rows


def find_labelled_rows_of_two_classes(graph: GraphArrays, rows: Rows) -> Rows:
    """Return `find_labelled_rows`. Raises InputError if all of these ideas have the same label."""
    labelled_rows = find_labelled_rows(graph, rows)
    present = np.unique(graph.labels[labelled_rows])
    if len(present) < 2:
        raise InputError(
            f"All labelled ideas ({len(labelled_rows):,}) have the label {graph.classes[present[0]]!r}.",
            "Add ideas with a different label: verdicts can be predicted only if the labelled ideas have at least two "
            "different labels.",
        )
    return labelled_rows
