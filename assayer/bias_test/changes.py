"""Changes in individual scores between each variant and the reference version of the same idea."""

from collections.abc import Iterable, Sequence

from assayer.bias_test.differences import collect_scores
from assayer.bias_test.variants import REFERENCE
from assayer.models import SCORE_ROUNDING, Absent, BiasTestEvaluation, IdeaId, ScoreChanges

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
