"""Measure probabilities against known labels, with bootstrap intervals over ideas.

A row of NaN is a missing answer. It stays in the denominator: it counts as wrong for accuracy, and loses every
comparison for AUROC. Only the calibration error, which measures answers alone, excludes it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Truth = NDArray[np.int16]
"""Each idea's true class as an index, shape (n,)."""
Probabilities = NDArray[np.float64]
"""Probabilities, shape (n, classes); rows without an answer are NaN."""
Measure = Callable[[Truth, Probabilities], float]
"""A metric over true classes and probabilities; NaN if it is undefined, such as the AUROC of a single class."""

_NO_ANSWER = -1


class Estimate(NamedTuple):
    """Estimate and the lower and upper ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float


def compute_accuracy(truth: Truth, probabilities: Probabilities) -> float:
    return float((find_most_probable_classes(probabilities) == truth).mean())


def compute_auroc(truth: Truth, probabilities: Probabilities) -> float:
    """Return the area under the ROC curve; ties count half. With two classes, it is the AUROC of the better class;
    otherwise, the mean over the classes that occur, each against the rest."""
    classes = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    values = [_compute_auroc(truth == label, probabilities[:, label]) for label in classes]
    defined_values = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined_values)) if defined_values else float("nan")


def compute_calibration_error(truth: Truth, probabilities: Probabilities, bins: int = 10) -> float:
    """Return the expected calibration error for the most probable class: the mean gap between confidence and accuracy
    over bins of equal width."""
    is_answered = ~np.isnan(probabilities).any(axis=1)
    if not is_answered.any():
        return float("nan")
    confidence = probabilities[is_answered].max(axis=1)
    is_correct = probabilities[is_answered].argmax(axis=1) == truth[is_answered]
    places = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(places, weights=is_correct - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidence))


def compute_brier_score(truth: Truth, probabilities: Probabilities) -> float:
    """Return the Brier score: half the squared error summed over classes, averaged over ideas. With two classes, this
    is the error for either class. A missing answer counts as 1."""
    hits = np.eye(probabilities.shape[1])[truth]
    errors = ((probabilities - hits) ** 2).sum(axis=1) / 2
    return float(np.where(np.isnan(errors), 1.0, errors).mean())


def bootstrap(
    measure: Measure,
    truth: Truth,
    runs: Sequence[Probabilities],
    rounds: int,
    seed: int,
    other_runs: Sequence[Probabilities] = (),
) -> Estimate:
    """Return a measure's mean over repeated runs on the same ideas, or its mean paired difference from `other_runs`.
    The interval comes from resampling ideas rather than runs, because repeating a split adds no ideas."""

    def compute_mean(rows: NDArray[np.int64]) -> float:
        ours = np.mean([measure(truth[rows], run[rows]) for run in runs])
        theirs = np.mean([measure(truth[rows], run[rows]) for run in other_runs]) if other_runs else 0.0
        return float(ours - theirs)

    generator = np.random.default_rng(seed)
    resampled_means = [compute_mean(generator.integers(0, len(truth), len(truth))) for _ in range(rounds)]
    defined_means = [value for value in resampled_means if not np.isnan(value)]
    low, high = np.quantile(defined_means, [0.025, 0.975]) if defined_means else (float("nan"), float("nan"))
    return Estimate(compute_mean(np.arange(len(truth))), float(low), float(high))


def find_most_probable_classes(probabilities: Probabilities) -> NDArray[np.int64]:
    is_answered = ~np.isnan(probabilities).any(axis=1)
    return np.where(is_answered, np.nan_to_num(probabilities).argmax(axis=1), _NO_ANSWER)


def _compute_auroc(is_positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the AUROC, by the rank-sum formula over answered pairs. It is divided by all pairs, so that unanswered
    pairs count as wrong."""
    from scipy.stats import rankdata

    pairs = int(is_positive.sum()) * int((~is_positive).sum())
    if not pairs:
        return float("nan")
    is_answered = ~np.isnan(scores)
    ranks, is_positive_answered = rankdata(scores[is_answered]), is_positive[is_answered]
    count = int(is_positive_answered.sum())
    return float((ranks[is_positive_answered].sum() - count * (count + 1) / 2) / pairs)
