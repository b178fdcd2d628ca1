"""Changes of single scores against the reference of the same idea, one variant at a time."""

from collections.abc import Iterable, Sequence

from assayer.audit.differences import scores_of
from assayer.audit.variants import REFERENCE
from assayer.models import SCORE_ROUNDING, Absent, AuditedEvaluation, IdeaId, ScoreChanges

__all__ = ["score_changes"]

_NOTHING_COMPARED = Absent(reason="no score was there in both.")


def score_changes(references: Iterable[AuditedEvaluation], others: Sequence[AuditedEvaluation]) -> ScoreChanges:
    """`references` hold one evaluation of every idea. A score that is there on one side alone is a change too."""
    known = scores_of(one for one in references if one.variant == REFERENCE and not one.failure)
    sizes: list[float] = []
    ranges: dict[tuple[IdeaId, str], list[float]] = {}
    gained = lost = failed = 0
    for one in others:
        before = known.get((one.idea, REFERENCE))
        if one.failure or before is None:
            failed += 1
            continue
        (after,) = scores_of([one]).values()
        for name in after.keys() & before.keys():
            sizes.append(abs(after[name] - before[name]))
            ranges.setdefault((one.idea, name), [before[name]]).append(after[name])
        gained += len(after.keys() - before.keys())
        lost += len(before.keys() - after.keys())
    return ScoreChanges(
        compared=len(sizes),
        changed=sum(size >= SCORE_ROUNDING for size in sizes),
        gained=gained,
        lost=lost,
        failed=failed,
        largest=max(sizes, default=_NOTHING_COMPARED),
        widest=max((max(values) - min(values) for values in ranges.values()), default=_NOTHING_COMPARED),
        mean=sum(sizes) / len(sizes) if sizes else _NOTHING_COMPARED,
    )
