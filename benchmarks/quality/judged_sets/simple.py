"""Simple baselines (length, words, embeddings) that learn from other items of the set."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.judged_sets.judged import JudgedSet

Floats = NDArray[np.float64]
_FOLDS = 10
LONGER = "the longer text, nothing learned"
WORDS = "TF-IDF + regression, in folds"


def compute_simple_values(judged_set: JudgedSet, vectorise: Vectoriser | None) -> Iterator[tuple[str, Floats]]:
    """Yield scorer names with their values (n,); without a vectoriser, embeddings are left out."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    texts = [item.text for item in judged_set.items]
    yield "always-majority", np.zeros(len(texts))
    yield LONGER, np.log([max(1, len(text)) for text in texts])
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    yield (
        WORDS,
        _predict_in_folds(judged_set, np.array(texts, object), make_pipeline(words, _create_model(judged_set))),
    )
    if vectorise is not None:
        yield (
            "embedding + regression, in folds",
            _predict_in_folds(judged_set, vectorise(texts), _create_model(judged_set)),
        )


def split_into_folds(judged_set: JudgedSet) -> Sequence[NDArray[np.int64]]:
    """Split into disjoint parts. Items that belong together stay together; decisions are spread nearly evenly."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    split_groups = np.array([item.split_group or item.id for item in judged_set.items])
    rarest_count = (
        np.unique(judged_set.truth, return_counts=True)[1].min() if judged_set.has_decisions else len(split_groups)
    )
    count = min(_FOLDS, len(np.unique(split_groups)), int(rarest_count))
    if count < 2:
        return []
    splitter = StratifiedGroupKFold if judged_set.has_decisions else GroupKFold
    return [test_rows for _, test_rows in splitter(count).split(split_groups, judged_set.truth, split_groups)]


def _predict_in_folds(judged_set: JudgedSet, features: NDArray[np.generic], model: object) -> Floats:
    """Score each fold relative to the mean of its training items, since a fold with many good items leaves few to learn
    from. NaN if the other folds have only one outcome."""
    from sklearn.base import clone

    truth, predictions = judged_set.truth, np.full(len(judged_set.items), np.nan)
    for test_rows in split_into_folds(judged_set):
        training_rows = np.setdiff1d(np.arange(len(truth)), test_rows)
        if len(np.unique(truth[training_rows])) < 2:
            continue
        fitted_model = clone(model).fit(features[training_rows], truth[training_rows])
        score = fitted_model.decision_function if judged_set.has_decisions else fitted_model.predict
        predictions[test_rows] = score(features[test_rows]) - score(features[training_rows]).mean()
    return predictions


def _create_model(judged_set: JudgedSet) -> object:
    from sklearn.linear_model import LogisticRegression, Ridge

    return LogisticRegression(max_iter=1000) if judged_set.has_decisions else Ridge()
