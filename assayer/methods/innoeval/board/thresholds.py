"""Fit score thresholds that separate ordered outcomes, and measure them on held-out ideas."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
OutcomeRows = NDArray[np.int64]
"""Each idea's outcome, as an index into the outcomes from worst to best."""

_FOLDS = 5
_SHUFFLES = 100


def fit_thresholds(scores: Floats, labels: OutcomeRows, classes: int) -> tuple[float, ...]:
    """Find the thresholds that maximise the mean recall over the outcomes. The solution is exact, by dynamic
    programming over the cuts between adjacent scores. Ties go to the lowest cuts."""
    order = np.argsort(scores, kind="stable")
    values, starts = np.unique(scores[order], return_index=True)
    worth = np.eye(classes)[labels[order]] / np.bincount(labels, minlength=classes)
    cumulative_gain = np.vstack([np.zeros(classes), np.add.reduceat(worth, starts, axis=0).cumsum(axis=0)])
    best, cuts = cumulative_gain[:, 0], np.zeros((classes, len(values) + 1), np.int64)
    for label in range(1, classes):
        margin = best - cumulative_gain[:, label]
        cuts[label] = [int(np.argmax(margin[: end + 1])) for end in range(len(values) + 1)]
        best = margin[cuts[label]] + cumulative_gain[:, label]
    place, thresholds = len(values), list[float]()
    for label in range(classes - 1, 0, -1):
        place = int(cuts[label][place])
        thresholds.append(_compute_midpoint(values, place))
    return tuple(reversed(thresholds))


def _compute_midpoint(values: Floats, place: int) -> float:
    """Return the midpoint between two adjacent scores. Before the first score it is 0; after the last it is just above
    10, which no score reaches."""
    if place == 0:
        return 0.0
    return 10.0 + 1e-6 if place == len(values) else round(float(values[place - 1] + values[place]) / 2, 4)


def predict_held_out_outcomes(
    scores: Floats, labels: OutcomeRows, classes: int, generator: np.random.Generator
) -> OutcomeRows:
    """Predict each idea's outcome with thresholds fitted without its fold. Folds are stratified by outcome."""
    fold = np.empty(len(labels), np.int64)
    for label in range(classes):
        rows = generator.permutation(np.flatnonzero(labels == label))
        fold[rows] = np.arange(len(rows)) % min(_FOLDS, len(rows))
    predictions = np.empty(len(labels), np.int64)
    for number in range(_FOLDS):
        test = fold == number
        thresholds = fit_thresholds(scores[~test], labels[~test], classes)
        predictions[test] = np.searchsorted(thresholds, scores[test], side="right")
    return predictions


def compute_balanced_recall(predictions: OutcomeRows, labels: OutcomeRows, classes: int) -> float:
    return float(np.mean([(predictions[labels == label] == label).mean() for label in range(classes)]))


def compute_shuffled_recalls(
    scores: Floats, labels: OutcomeRows, classes: int, generator: np.random.Generator
) -> Floats:
    """Return the balanced recall on held-out ideas when the outcomes are shuffled: the level that uninformative scores
    reach by chance."""
    shuffles = (generator.permutation(labels) for _ in range(_SHUFFLES))
    recalls = [
        compute_balanced_recall(
            predict_held_out_outcomes(scores, shuffled_labels, classes, generator), shuffled_labels, classes
        )
        for shuffled_labels in shuffles
    ]
    return np.array(recalls, np.float64)


def compute_macro_f1(predictions: OutcomeRows, labels: OutcomeRows, classes: int) -> float:
    """Return the mean F1 over the outcomes; an outcome that is never predicted counts as 0."""
    correct = np.bincount(labels[predictions == labels], minlength=classes)
    total = np.bincount(labels, minlength=classes) + np.bincount(predictions, minlength=classes)
    return float(np.mean(2 * correct / np.maximum(total, 1)))


def draw_bootstrap_rows(labels: OutcomeRows, classes: int, generator: np.random.Generator) -> OutcomeRows:
    """Draw the rows of a bootstrap sample that keeps the number of ideas with each outcome."""
    rows = [np.flatnonzero(labels == label) for label in range(classes)]
    return np.concatenate([generator.choice(row, len(row)) for row in rows])
