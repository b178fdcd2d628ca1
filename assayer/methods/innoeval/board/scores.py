"""Scores of the board: from a reviewer × dimension matrix to the final score, its interval, and reviewer agreement."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Absent, Agreement, Score, ScoreInterval

__all__ = ["ScoreMatrix", "agreement", "final_score", "mean_score", "score_interval", "score_matrix"]

ScoreMatrix = NDArray[np.float64]
"""(reviewers, dimensions), each score brought to 0–10; NaN where there is none. A missing score is never a number."""

_INTERVAL_LEVEL = 0.9


def score_matrix(dimensions: Sequence[RubricDimension], scores: Sequence[Sequence[Score | Absent]]) -> ScoreMatrix:
    """`scores` holds a row for each reviewer."""
    rows = [
        [
            np.nan if isinstance(score, Absent) else 10 * dimension.share(score.value)
            for dimension, score in zip(dimensions, row, strict=True)
        ]
        for row in scores
    ]
    return np.array(rows, np.float64).reshape(len(rows), len(dimensions))


def mean_score(dimension: RubricDimension, scores: Sequence[Score | Absent]) -> Score | Absent:
    """Of those reviewers who gave one, on the dimension's own scale."""
    given = [score.value for score in scores if isinstance(score, Score)]
    if not given:
        reasons = dict.fromkeys(score.reason for score in scores if isinstance(score, Absent))
        return Absent(reason=f"no reviewer could judge it: {' '.join(reasons)}")
    spread = f", from {min(given):g} to {max(given):g}" if len(given) > 1 else ""
    return Score(
        value=round(sum(given) / len(given), 2),
        scale_min=dimension.scale.min,
        scale_max=dimension.scale.max,
        basis=f"Mean of {len(given)} of {len(scores)} reviewer{'' if len(scores) == 1 else 's'}{spread}.",
    )


def final_score(dimensions: Sequence[RubricDimension], matrix: ScoreMatrix) -> Score | Absent:
    """The weighted mean over the dimensions that have a score."""
    means, weights = _dimension_means(dimensions, matrix)
    if not weights.any():
        return Absent(reason="no dimension was scored by any reviewer.")
    missing = [one.title.lower() for one, weight in zip(dimensions, weights, strict=True) if not weight]
    value = float(np.nansum(means * weights) / weights.sum())
    weighted = "" if len({one.weight for one in dimensions}) == 1 else "weighted "
    basis = f"The {weighted}mean of {len(dimensions) - len(missing)} of {len(dimensions)} dimensions"
    without = f"; no reviewer could judge {', '.join(missing)}" if missing else ""
    return Score(value=round(value, 2), basis=f"{basis}, each the mean of its reviewers{without}.")


_ONE_MODEL = (
    " One language model answered for all of them, so they are not independent: in a published comparison AI reviewers "
    "shared 21 % of their criticisms and people 3 % (arXiv 2605.20668). Agreement among them tells less."
)


def score_interval(dimensions: Sequence[RubricDimension], matrix: ScoreMatrix) -> ScoreInterval | Absent:
    """Student's t over the reviewers' mean deviations from the dimensions' means: for a full matrix, the t interval
    of the reviewers' own means. Deviations, so that a reviewer who skipped a hard dimension does not look generous."""
    means, weights = _dimension_means(dimensions, matrix)
    present = ~np.isnan(matrix)
    counted = present.any(axis=1)
    reviewers = int(counted.sum())
    if reviewers < 2:
        return Absent(reason="at least two reviewers are needed to measure their spread.")
    deviations = np.where(present, matrix - means, 0.0)[counted]
    shares = (present * weights)[counted]
    effects = (deviations * shares).sum(axis=1) / shares.sum(axis=1)
    half = float(stdtrit(reviewers - 1, (1 + _INTERVAL_LEVEL) / 2) * effects.std(ddof=1) / np.sqrt(reviewers))
    centre = float(np.nansum(means * weights) / weights.sum())
    return ScoreInterval(
        low=round(max(0.0, centre - half), 2),
        high=round(min(10.0, centre + half), 2),
        level=_INTERVAL_LEVEL,
        basis=f"Spread of the means of {reviewers} reviewers (Student's t).",
    )


def agreement(matrix: ScoreMatrix, models: int) -> Agreement | Absent:
    """Krippendorff's α for interval data, reviewers as coders and dimensions as units; `models` answered for them."""
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    pairable = pairable[(~np.isnan(pairable)).any(axis=1)]
    reviewers, dimensions = pairable.shape
    if reviewers < 2 or dimensions < 2:
        return Absent(reason="at least two reviewers must have scored the same two dimensions.")
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        return Absent(reason="every score is the same, so agreement cannot be told from habit.")
    alpha = _interval_alpha(pairable)
    return Agreement(
        alpha=round(alpha, 3),
        reviewers=reviewers,
        dimensions=dimensions,
        basis=(
            f"Krippendorff's α for interval data over {dimensions} dimensions. It measures whether reviewers see the "
            "same strengths and weaknesses: if an idea is equally good in all dimensions, α is low however close the "
            f"scores are.{_ONE_MODEL if models == 1 else ''}"
        ),
    )


def _interval_alpha(matrix: ScoreMatrix) -> float:
    """1 less the variance within units over that of all values, units weighted with their numbers of values
    (Krippendorff, Computing Krippendorff's alpha-reliability, 2011). Every unit (column) has at least two values."""
    sizes = (~np.isnan(matrix)).sum(axis=0)
    within = np.average(np.nanvar(matrix, axis=0, ddof=1), weights=sizes)
    return float(1 - within / np.nanvar(matrix, ddof=1))


def _dimension_means(dimensions: Sequence[RubricDimension], matrix: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Of each dimension; weight 0 and NaN where nobody scored it."""
    present = ~np.isnan(matrix)
    counts = present.sum(axis=0)
    sums = np.where(present, matrix, 0.0).sum(axis=0)
    means = np.divide(sums, counts, out=np.full(len(dimensions), np.nan), where=counts > 0)
    return means, np.where(counts > 0, [one.weight for one in dimensions], 0.0)
