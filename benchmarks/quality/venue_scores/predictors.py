"""What predicts a rating without reading: the mean, length, words, embeddings, and what a search brought up."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.venue_scores.submissions import RatedSubmission

__all__ = ["EMBEDDING", "LENGTH", "MEAN", "WORDS", "Features", "features_of", "from_others", "in_folds"]

Floats = NDArray[np.float64]
Features = Mapping[str, NDArray[np.generic]]
"""By predictor, one row a submission; texts where words are counted."""

MEAN = "mean"
LENGTH = "length"
WORDS = "TF-IDF, ridge"
EMBEDDING = "embedding, ridge"

_FOLDS = 10
_STRENGTHS = np.logspace(-2, 5, 15)


def features_of(submissions: Sequence[RatedSubmission], vectorise: Vectoriser | None) -> dict[str, NDArray[np.generic]]:
    """Without a vectoriser no embeddings."""
    texts = [one.text for one in submissions]
    found: dict[str, NDArray[np.generic]] = {
        MEAN: np.zeros((len(texts), 1)),
        LENGTH: np.log([[max(1, len(text))] for text in texts]),
        WORDS: np.array(texts, object),
    }
    return found if vectorise is None else {**found, EMBEDDING: vectorise(texts)}


def in_folds(name: str, features: NDArray[np.generic], ratings: Floats, seed: int) -> Floats:
    """(n,) predictions, each learned without its fold. How strongly weights are held down is chosen inside what is
    learned from, by leaving out one at a time. Needs two submissions or more."""
    said = np.full(len(ratings), np.nan)
    folds = KFold(min(_FOLDS, len(ratings)), shuffle=True, random_state=seed)
    for known, asked in folds.split(ratings):
        said[asked] = from_others(name, features[known], ratings[known], features[asked])
    return said


def from_others(name: str, known: NDArray[np.generic], ratings: Floats, asked: NDArray[np.generic]) -> Floats:
    """(n,) predictions for `asked`, learned from `known` alone."""
    ridge = RidgeCV(_STRENGTHS)
    if name == MEAN:
        model = make_pipeline(DummyRegressor())
    elif name == WORDS:
        words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2), stop_words="english")
        model = make_pipeline(words, ridge)
    elif name == EMBEDDING:
        model = make_pipeline(ridge)
    else:
        model = make_pipeline(StandardScaler(), ridge)
    said: Floats = np.asarray(model.fit(known, ratings).predict(asked), np.float64)
    return said
