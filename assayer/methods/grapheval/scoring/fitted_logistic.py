"""Logistic regressions on an idea's words, mean viewpoint or length, stored as numbers.

A fitted regression is loaded from JSON without executing anything from the file, and answers in milliseconds."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import model_validator
from scipy.special import softmax

from assayer.models import Frozen

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

Floats = NDArray[np.float64]
Labels = NDArray[np.int16]
FeatureKind = Literal["words", "mean viewpoint", "length"]

_MAX_TERMS = 100_000


class FittedLogistic(Frozen):
    """A fitted logistic regression. It contains single words from the ideas it was trained on, but none of their
    texts."""

    kind: FeatureKind
    classes: int
    present: tuple[int, ...]
    """Indices of the outcomes that occurred in training; all others get probability 0."""
    coefficients: tuple[tuple[float, ...], ...]
    """Coefficients, of shape (present, features)."""
    intercepts: tuple[float, ...]
    terms: tuple[str, ...] = ()
    """Vocabulary, for the kind `words`, in the order of the features."""
    rarity: tuple[float, ...] = ()
    """Inverse document frequency of each term."""
    centre: float = 0.0
    spread: float = 1.0
    """Standard deviation of the log character count, for the kind `length`; `centre` is its mean."""

    @model_validator(mode="after")
    def _shapes_agree(self) -> "FittedLogistic":
        features = {len(row) for row in self.coefficients}
        expected_features = {"words": len(self.terms), "length": 1}.get(self.kind)
        if (
            not len(self.coefficients) == len(self.intercepts) == len(self.present) >= 2
            or len(features) != 1
            or (expected_features is not None and features != {expected_features})
            or len(self.rarity) != len(self.terms)
            or any(not 0 <= row < self.classes for row in self.present)
        ):
            raise ValueError("a fitted logistic regression needs one coefficient per pair of outcome and feature")
        return self

    def score_texts(self, texts: Sequence[str]) -> Floats:
        """Return each text's probabilities, shape (texts, classes). Call this only if `kind` is `words` or `length`."""
        features = self._vectorizer.transform(texts) if self.kind == "words" else self._standardise_lengths(texts)
        return self._compute_probabilities(features)

    def score_vectors(self, vectors: NDArray[np.float32]) -> Floats:
        """Return each vector's probabilities, shape (ideas, classes). Call this only if `kind` is `mean viewpoint`.
        `vectors` has shape (ideas, d)."""
        return self._compute_probabilities(vectors)

    def _compute_probabilities(self, features: NDArray[np.floating] | sp.csr_matrix) -> Floats:
        probabilities = np.zeros((features.shape[0], self.classes))
        probabilities[:, self.present] = softmax(features @ self._matrix.T + np.array(self.intercepts), axis=1)
        return probabilities

    def _standardise_lengths(self, texts: Sequence[str]) -> Floats:
        return (_compute_log_char_counts(texts) - self.centre) / self.spread

    @cached_property
    def _matrix(self) -> Floats:
        return np.array(self.coefficients)

    @cached_property
    def _vectorizer(self) -> "TfidfVectorizer":
        words = _build_vectorizer(vocabulary={term: column for column, term in enumerate(self.terms)})
        words.idf_ = np.array(self.rarity)
        return words


def fit_words(texts: Sequence[str], labels: Labels, classes: int) -> FittedLogistic:
    """Fit a logistic regression to TF-IDF weights. The vocabulary and document frequencies are learned from the same
    texts."""
    words = _build_vectorizer(max_features=_MAX_TERMS)
    features = words.fit_transform(texts)
    return _fit("words", features, labels, classes).model_copy(
        update={
            "terms": tuple(str(term) for term in words.get_feature_names_out()),
            "rarity": tuple(words.idf_.tolist()),
        }
    )


def fit_vectors(vectors: NDArray[np.float32], labels: Labels, classes: int) -> FittedLogistic:
    return _fit("mean viewpoint", vectors, labels, classes)


def fit_length(texts: Sequence[str], labels: Labels, classes: int) -> FittedLogistic:
    """Fit a logistic regression to the log character count."""
    lengths = _compute_log_char_counts(texts)
    centre, spread = float(lengths.mean()), float(lengths.std()) or 1.0
    fitted_model = _fit("length", (lengths - centre) / spread, labels, classes)
    return fitted_model.model_copy(update={"centre": centre, "spread": spread})


class _Classifier(Protocol):
    classes_: NDArray[np.int16]
    coef_: Floats
    intercept_: Floats


def _fit(
    kind: FeatureKind, features: NDArray[np.floating] | sp.csr_matrix, labels: Labels, classes: int
) -> FittedLogistic:
    from sklearn.linear_model import LogisticRegression

    classifier: _Classifier = LogisticRegression(max_iter=1000).fit(features, labels)
    weights, intercepts = classifier.coef_, classifier.intercept_
    if len(classifier.classes_) == 2:  # scikit-learn returns one row for two outcomes
        weights, intercepts = np.vstack([np.zeros_like(weights), weights]), np.array([0.0, *intercepts])
    return FittedLogistic.model_construct(
        kind=kind,
        classes=classes,
        present=tuple(classifier.classes_.tolist()),
        coefficients=tuple(tuple(row) for row in weights.tolist()),
        intercepts=tuple(intercepts.tolist()),
    )


def _build_vectorizer(vocabulary: dict[str, int] | None = None, max_features: int | None = None) -> "TfidfVectorizer":
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, stop_words="english", vocabulary=vocabulary, max_features=max_features)


def _compute_log_char_counts(texts: Sequence[str]) -> Floats:
    """Return log character counts, shape (texts, 1)."""
    return np.log([[max(1, len(text))] for text in texts])
