"""Limits of plagiarism fitted on honest and plagiarised ideas."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.plagiarism import PlagiarismLimits
from benchmarks.quality.grapheval.metrics import detection

__all__ = ["fit_limits"]


def fit_limits(
    honest: Sequence[NDArray[np.float32]], plagiarised: Sequence[NDArray[np.float32]], false_alarms: float = 0.01
) -> PlagiarismLimits:
    """From cases whose truth is known; each is the cosine of every viewpoint with the nearest of another idea.

    Of the pairs of limits that flag at most `false_alarms` of the honest cases the one with the best F1, and of
    equals the middle one, farthest from either side. Raises InputError without cases of both sorts.
    """
    if not honest or not plagiarised:
        raise InputError("Limits of plagiarism are fitted on honest and plagiarised ideas: one of the two is missing.")
    truth = np.arange(len(honest) + len(plagiarised)) >= len(honest)
    best: list[tuple[float, float]] = []
    highest = -1.0
    for cosine in np.round(np.arange(0.60, 0.991, 0.01), 2):
        shares = np.array([(case >= cosine).mean() for case in (*honest, *plagiarised)])
        for share in np.round(np.arange(0.1, 1.001, 0.05), 2):
            flagged = shares >= share
            if flagged[~truth].mean() > false_alarms:
                continue
            f1 = detection(flagged, truth).f1
            if f1 > highest:
                highest, best = f1, []
            if f1 == highest:
                best.append((float(cosine), float(share)))
    if not best:
        raise InputError(
            "Too many of the honest ideas repeat each other for any limit to be fitted.",
            "Take the duplicates out first.",
        )
    centre = np.mean(best, axis=0)
    cosine, share = min(best, key=lambda pair: float(((np.array(pair) - centre) ** 2).sum()))
    return PlagiarismLimits(cosine=cosine, share=share)
