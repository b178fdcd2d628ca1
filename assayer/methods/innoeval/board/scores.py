"""Compute the board's scores: reviewer × dimension matrix, final score and its interval, and agreement between
reviewers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Absent, Agreement, Score, ScoreInterval

ScoreMatrix = NDArray[np.float64]
"""Matrix of scores from 0 to 10, of shape (reviewers, dimensions). NaN marks a missing score, which is never replaced
by a number."""

_INTERVAL_LEVEL = 0.9


def build_score_matrix(
    dimensions: Sequence[RubricDimension], scores: Sequence[Sequence[Score | Absent]]
) -> ScoreMatrix:
    """Build the score matrix. `scores` has one row per reviewer."""
    rows = [
        [
            np.nan if isinstance(score, Absent) else 10 * dimension.compute_share(score.value)
            for dimension, score in zip(dimensions, row, strict=True)
        ]
        for row in scores
    ]
    return np.array(rows, np.float64).reshape(len(rows), len(dimensions))


def compute_reviewers_mean(dimension: RubricDimension, scores: Sequence[Score | Absent]) -> Score | Absent:
    """Return the mean of the reviewers' scores, on the dimension's own scale. If no reviewer gave a score, it is
    absent, with their reasons."""
    values = [score.value for score in scores if isinstance(score, Score)]
    if not values:
        reasons = dict.fromkeys(score.reason for score in scores if isinstance(score, Absent))
        return Absent(reason=f"no reviewer could judge it: {' '.join(reasons)}")
    range_text = f", from {min(values):g} to {max(values):g}" if len(values) > 1 else ""
    return Score(
        value=round(sum(values) / len(values), 2),
        scale_min=dimension.scale.min,
        scale_max=dimension.scale.max,
        basis=f"Mean of {len(values)} of {len(scores)} reviewer{'' if len(scores) == 1 else 's'}{range_text}.",
    )


def compute_final_score(dimensions: Sequence[RubricDimension], matrix: ScoreMatrix) -> Score | Absent:
    """Return the final score: the weighted mean over the dimensions that have a score."""
    means, weights = _compute_dimension_means(dimensions, matrix)
    if not weights.any():
        return Absent(reason="no dimension was scored by any reviewer.")
    missing_titles = [
        dimension.title.lower() for dimension, weight in zip(dimensions, weights, strict=True) if not weight
    ]
    value = float(np.nansum(means * weights) / weights.sum())
    weighting = "" if len({dimension.weight for dimension in dimensions}) == 1 else "weighted "
    basis = f"The {weighting}mean of {len(dimensions) - len(missing_titles)} of {len(dimensions)} dimensions"
    missing_text = f"; no reviewer could judge {', '.join(missing_titles)}" if missing_titles else ""
    return Score(value=round(value, 2), basis=f"{basis}, each the mean of its reviewers{missing_text}.")


_ONE_MODEL = (
    " All reviewers use the same language model, so they are not independent: in a published comparison, AI reviewers "
    "shared 21 % of their criticisms and human reviewers 3 % (arXiv 2605.20668). Their agreement means less."
)


def compute_score_interval(dimensions: Sequence[RubricDimension], matrix: ScoreMatrix) -> ScoreInterval | Absent:
    """Return the Student's t interval for the final score, from how far each reviewer's scores deviate, on average,
    from the dimension means.

    For a full matrix, this equals the t interval over the reviewers' own means. Using deviations prevents a reviewer
    who skipped a hard dimension from appearing generous."""
    means, weights = _compute_dimension_means(dimensions, matrix)
    present = ~np.isnan(matrix)
    is_counted = present.any(axis=1)
    reviewers = int(is_counted.sum())
    if reviewers < 2:
        return Absent(reason="at least two reviewers are needed to measure their spread.")
    deviations = np.where(present, matrix - means, 0.0)[is_counted]
    shares = (present * weights)[is_counted]
    effects = (deviations * shares).sum(axis=1) / shares.sum(axis=1)
    half_width = float(stdtrit(reviewers - 1, (1 + _INTERVAL_LEVEL) / 2) * effects.std(ddof=1) / np.sqrt(reviewers))
    centre = float(np.nansum(means * weights) / weights.sum())
    return ScoreInterval(
        low=round(max(0.0, centre - half_width), 2),
        high=round(min(10.0, centre + half_width), 2),
        level=_INTERVAL_LEVEL,
        basis=f"Spread of the means of {reviewers} reviewers (Student's t).",
    )


def measure_agreement(matrix: ScoreMatrix, models: int) -> Agreement | Absent:
    """Measure agreement as Krippendorff's α for interval data, with reviewers as coders and dimensions as units.
    `models` is the number of models that answered."""
    ratings = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    ratings = ratings[(~np.isnan(ratings)).any(axis=1)]
    reviewers, dimensions = ratings.shape
    if reviewers < 2 or dimensions < 2:
        return Absent(reason="at least two reviewers must have scored the same two dimensions.")
    if len(np.unique(ratings[~np.isnan(ratings)])) < 2:
        return Absent(reason="all scores are equal, so agreement cannot be distinguished from habit.")
    alpha = _compute_interval_alpha(ratings)
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


def _compute_interval_alpha(matrix: ScoreMatrix) -> float:
    """Return Krippendorff's α: 1 minus the ratio of the variance within units to the variance of all values, where
    units are weighted by their number of values (Krippendorff, Computing Krippendorff's alpha-reliability, 2011). Every
    unit (column) must have at least two values."""
    sizes = (~np.isnan(matrix)).sum(axis=0)
    variance_within = np.average(np.nanvar(matrix, axis=0, ddof=1), weights=sizes)
    return float(1 - variance_within / np.nanvar(matrix, ddof=1))


def _compute_dimension_means(
    dimensions: Sequence[RubricDimension], matrix: ScoreMatrix
) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Return each dimension's mean and weight; NaN and 0 if no reviewer scored it."""
    present = ~np.isnan(matrix)
    counts = present.sum(axis=0)
    sums = np.where(present, matrix, 0.0).sum(axis=0)
    means = np.divide(sums, counts, out=np.full(len(dimensions), np.nan), where=counts > 0)
    return means, np.where(counts > 0, [dimension.weight for dimension in dimensions], 0.0)
