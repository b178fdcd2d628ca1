"""Paired differences between scores, with Student's t intervals over ideas, and changes in individual scores.

With so few ideas, percentile bootstrap intervals are too narrow. For normally distributed differences, nominal 95 %
intervals cover the mean in 50 % of cases with 2 differences, in 84 % with 5 and in 92 % with 15. Student's t intervals
cover it in 95 % of cases with any number. Their coverage is lower for skewed differences, and skewness cannot be
detected with fewer than six ideas."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from assayer.bias_test.variants import REFERENCE, Contrast
from assayer.models import (
    SCORE_ROUNDING,
    Absent,
    BiasTestEvaluation,
    IdeaId,
    MeanInterval,
    ScoreChanges,
    ScoreDifference,
)

MIN_IDEAS = 6
"""Minimum number of ideas for an interval."""
_CONFIDENCE_LEVEL = 0.95
_ROUNDING_TOLERANCE = 1e-9
"""Tolerance in points; smaller differences count as rounding errors."""
_Scores = Mapping[tuple[IdeaId, str], Mapping[str, float]]


def collect_scores(evaluations: Iterable[BiasTestEvaluation]) -> _Scores:
    """Return the scores that are present, keyed by idea and variant, then by score name."""
    return {
        (evaluation.idea, evaluation.variant): {
            score.name: score.value for score in evaluation.scores if not isinstance(score.value, Absent)
        }
        for evaluation in evaluations
    }


def measure_score_differences(
    evaluations: Sequence[BiasTestEvaluation], contrasts: Iterable[Contrast]
) -> tuple[ScoreDifference, ...]:
    """Return the score differences for every contrast and score, ordered by contrast and then by score. An idea that
    lacks a score on one side counts as missing; no value is filled in."""
    scores = collect_scores(evaluations)
    ideas = list(dict.fromkeys(evaluation.idea for evaluation in evaluations))
    names = list(dict.fromkeys(score.name for evaluation in evaluations for score in evaluation.scores))
    return tuple(_measure_difference(contrast, name, ideas, scores) for contrast in contrasts for name in names)


def compute_mean_interval(differences: NDArray[np.float64]) -> MeanInterval | Absent:
    """Return the confidence interval for the mean of `differences`, which hold one value per idea. Absent if there are
    too few ideas or if all differences are equal."""
    ideas = len(differences)
    if ideas < MIN_IDEAS:
        return Absent(reason=f"an interval needs {MIN_IDEAS} ideas with this score; there are {ideas}.")
    if float(np.ptp(differences)) < _ROUNDING_TOLERANCE:
        return Absent(reason="all ideas differ by the same amount, so no interval can be estimated.")
    half = float(stdtrit(ideas - 1, (1 + _CONFIDENCE_LEVEL) / 2) * differences.std(ddof=1) / np.sqrt(ideas))
    mean = float(differences.mean())
    return MeanInterval(low=mean - half, high=mean + half)


def _measure_difference(contrast: Contrast, score: str, ideas: Sequence[IdeaId], scores: _Scores) -> ScoreDifference:
    idea_differences = [_measure_idea_difference(contrast, score, idea, scores) for idea in ideas]
    paired_scores = np.array([item for item in idea_differences if item is not None], np.float64)
    mean: float | Absent = Absent(reason="no idea has this score under both conditions.")
    return ScoreDifference(
        attribute=contrast.attribute,
        comparison=contrast.compared,
        score=score,
        ideas=len(paired_scores),
        missing=len(ideas) - len(paired_scores),
        mean=float(paired_scores.mean()) if len(paired_scores) else mean,
        interval=compute_mean_interval(paired_scores),
        largest=float(np.abs(paired_scores).max()) if len(paired_scores) else None,
    )


def _measure_idea_difference(contrast: Contrast, score: str, idea: IdeaId, scores: _Scores) -> float | None:
    """Return one idea's score difference, or None if any variant lacks the score: a mean over fewer variants would
    cover different people."""
    sides = []
    for variants in (contrast.compared_variants, contrast.baseline_variants):
        values = [scores.get((idea, variant), {}).get(score) for variant in variants]
        present_values = [value for value in values if value is not None]
        if len(present_values) < len(variants):
            return None
        sides.append(sum(present_values) / len(present_values))
    return sides[0] - sides[1]


_NOTHING_COMPARED = Absent(reason="no score exists in both evaluations.")


def measure_score_changes(
    references: Iterable[BiasTestEvaluation], variant_evaluations: Sequence[BiasTestEvaluation]
) -> ScoreChanges:
    """Compare the scores in `variant_evaluations` with those in `references`, which hold one evaluation per idea. A
    score that only one of the two has counts as gained or lost."""
    reference_scores = collect_scores(
        reference for reference in references if reference.variant == REFERENCE and not reference.failure
    )
    sizes: list[float] = []
    ranges: dict[tuple[IdeaId, str], list[float]] = {}
    gained = lost = failed = 0
    for item in variant_evaluations:
        old_scores = reference_scores.get((item.idea, REFERENCE))
        if item.failure or old_scores is None:
            failed += 1
            continue
        (new_scores,) = collect_scores([item]).values()
        for name in new_scores.keys() & old_scores.keys():
            sizes.append(abs(new_scores[name] - old_scores[name]))
            ranges.setdefault((item.idea, name), [old_scores[name]]).append(new_scores[name])
        gained += len(new_scores.keys() - old_scores.keys())
        lost += len(old_scores.keys() - new_scores.keys())
    return ScoreChanges(
        compared_pairs=len(sizes),
        changed_pairs=sum(size >= SCORE_ROUNDING for size in sizes),
        scores_gained=gained,
        scores_lost=lost,
        failed_evaluations=failed,
        largest_change=max(sizes, default=_NOTHING_COMPARED),
        widest_range=max((max(values) - min(values) for values in ranges.values()), default=_NOTHING_COMPARED),
        mean_change=sum(sizes) / len(sizes) if sizes else _NOTHING_COMPARED,
    )
