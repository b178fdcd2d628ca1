"""Paired differences of scores, with intervals by bootstrap over ideas."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from assayer.audit.variants import Contrast
from assayer.models import Absent, AuditedEvaluation, IdeaId, ScoreDifference

__all__ = ["DRAWS", "SEED", "score_differences"]

DRAWS = 10_000
SEED = 20_260
_FEWEST = 2
"""Ideas; one has no spread."""
_Scores = Mapping[tuple[IdeaId, str], Mapping[str, float]]


def score_differences(
    evaluations: Sequence[AuditedEvaluation], contrasts: Iterable[Contrast]
) -> tuple[ScoreDifference, ...]:
    """For every contrast and score, in this order. An idea that lacks a score on one side is counted, not filled in."""
    scores: _Scores = {
        (one.idea, one.variant): {
            score.name: score.value for score in one.scores if not isinstance(score.value, Absent)
        }
        for one in evaluations
    }
    ideas = list(dict.fromkeys(one.idea for one in evaluations))
    names = list(dict.fromkeys(score.name for one in evaluations for score in one.scores))
    return tuple(_difference(contrast, name, ideas, scores) for contrast in contrasts for name in names)


def _difference(contrast: Contrast, score: str, ideas: Sequence[IdeaId], scores: _Scores) -> ScoreDifference:
    found = [_of_idea(contrast, score, idea, scores) for idea in ideas]
    paired = np.array([one for one in found if one is not None])
    missing = len(ideas) - len(paired)
    mean: float | Absent = Absent(reason="no idea has this score under both conditions.")
    low = high = largest = None
    if len(paired):
        mean, largest = float(paired.mean()), float(np.abs(paired).max())
    if len(paired) >= _FEWEST:
        rows = np.random.default_rng(SEED).integers(0, len(paired), (DRAWS, len(paired)))
        low, high = (float(bound) for bound in np.quantile(paired[rows].mean(axis=1), (0.025, 0.975)))
    return ScoreDifference(
        attribute=contrast.attribute,
        compared=contrast.compared,
        score=score,
        ideas=len(paired),
        missing=missing,
        mean=mean,
        low=low,
        high=high,
        largest=largest,
    )


def _of_idea(contrast: Contrast, score: str, idea: IdeaId, scores: _Scores) -> float | None:
    """None when one of the variants has no such score: a mean of fewer would be of other people."""
    sides = []
    for variants in (contrast.these, contrast.those):
        values = [scores.get((idea, variant), {}).get(score) for variant in variants]
        known = [value for value in values if value is not None]
        if len(known) < len(variants):
            return None
        sides.append(sum(known) / len(known))
    return sides[0] - sides[1]
