"""Measures that only the benchmark reports: macro-F1, and precision and recall of a detection."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import (
    Measure,
    Probabilities,
    Truth,
    accuracy,
    auroc,
    calibration_error,
    most_probable_classes,
)

__all__ = ["MEASURES", "Detection", "detection", "macro_f1"]


def macro_f1(truth: Truth, probabilities: Probabilities) -> float:
    """Mean of the F1 of each class that occurs in the truth or is predicted."""
    decided, scores = most_probable_classes(probabilities), []
    for label in range(probabilities.shape[1]):
        right = int(((decided == label) & (truth == label)).sum())
        either = int((decided == label).sum() + (truth == label).sum())
        if either:
            scores.append(2 * right / either)
    return float(np.mean(scores))


MEASURES: Mapping[str, Measure] = {
    "accuracy": accuracy,
    "macro-F1": macro_f1,
    "AUROC": auroc,
    "ECE": calibration_error,
}


class Detection(NamedTuple):
    precision: float
    """NaN when nothing was flagged."""
    recall: float
    f1: float


def detection(flagged: NDArray[np.bool_], truth: NDArray[np.bool_]) -> Detection:
    """Of a search for rare cases; the truth holds at least one."""
    right = int((flagged & truth).sum())
    precision = right / int(flagged.sum()) if flagged.any() else float("nan")
    return Detection(precision, right / int(truth.sum()), 2 * right / int(flagged.sum() + truth.sum()))
