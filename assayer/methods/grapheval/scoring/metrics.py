"""How good probabilities are against known labels, with intervals by bootstrap over ideas.

A row of NaN is an answer that was not given. It stays in the denominator: for accuracy and F1 it is wrong, for
AUROC it loses every comparison; for the calibration error, which speaks about given answers only, it is left out.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "Measure", "accuracy", "auroc", "bootstrap", "brier", "calibration_error"]


Truth = NDArray[np.int16]
"""(n,) row of the true class."""
Probabilities = NDArray[np.float64]
"""(n, classes); rows of NaN where no answer was given."""
Measure = Callable[[Truth, Probabilities], float]
"""NaN where it is not defined, such as an AUROC of one class."""

_NO_ANSWER = -1


class Estimate(NamedTuple):
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


def accuracy(truth: Truth, probabilities: Probabilities) -> float:
    return float((most_probable_classes(probabilities) == truth).mean())


def auroc(truth: Truth, probabilities: Probabilities) -> float:
    """Chance that an idea of a class gets a higher probability of it than one of another; ties count half.

    With two classes of the better one, with more the mean over the classes that occur (one against the rest).
    """
    classes = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    values = [_auroc(truth == label, probabilities[:, label]) for label in classes]
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def calibration_error(truth: Truth, probabilities: Probabilities, bins: int = 10) -> float:
    """Expected calibration error of the decided class: mean gap of confidence and accuracy over equal bins."""
    answered = ~np.isnan(probabilities).any(axis=1)
    if not answered.any():
        return float("nan")
    confidence = probabilities[answered].max(axis=1)
    right = probabilities[answered].argmax(axis=1) == truth[answered]
    places = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(places, weights=right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidence))


def brier(truth: Truth, probabilities: Probabilities) -> float:
    """Half the mean squared error of all classes, with two classes that of either; 1 for an answer not given."""
    hits = np.eye(probabilities.shape[1])[truth]
    errors = ((probabilities - hits) ** 2).sum(axis=1) / 2
    return float(np.where(np.isnan(errors), 1.0, errors).mean())


def bootstrap(
    measure: Measure,
    truth: Truth,
    runs: Sequence[Probabilities],
    rounds: int,
    seed: int,
    against: Sequence[Probabilities] = (),
) -> Estimate:
    """Mean of a measure over repeated runs on the same ideas; with `against`, mean of the paired difference.

    The interval comes from drawing ideas, not runs: repeating a split makes no new ideas.
    """

    def mean(rows: NDArray[np.int64]) -> float:
        ours = np.mean([measure(truth[rows], run[rows]) for run in runs])
        theirs = np.mean([measure(truth[rows], run[rows]) for run in against]) if against else 0.0
        return float(ours - theirs)

    generator = np.random.default_rng(seed)
    drawn = [mean(generator.integers(0, len(truth), len(truth))) for _ in range(rounds)]
    defined = [value for value in drawn if not np.isnan(value)]
    low, high = np.quantile(defined, [0.025, 0.975]) if defined else (float("nan"), float("nan"))
    return Estimate(mean(np.arange(len(truth))), float(low), float(high))


def most_probable_classes(probabilities: Probabilities) -> NDArray[np.int64]:
    answered = ~np.isnan(probabilities).any(axis=1)
    return np.where(answered, np.nan_to_num(probabilities).argmax(axis=1), _NO_ANSWER)


def _auroc(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """By the rank-sum formula, over answered pairs; divided by all pairs, so unanswered ones are lost."""
    from scipy.stats import rankdata

    pairs = int(positive.sum()) * int((~positive).sum())
    if not pairs:
        return float("nan")
    answered = ~np.isnan(scores)
    ranks, above = rankdata(scores[answered]), positive[answered]
    count = int(above.sum())
    return float((ranks[above].sum() - count * (count + 1) / 2) / pairs)
