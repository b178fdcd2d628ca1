"""Comparisons between a ranking and the next one: written as lines, read back as data from outside."""

from collections.abc import Iterable

from assayer.models.ranking import Comparison
from assayer.sanitise import sanitise

__all__ = ["as_lines", "sanitised"]


def as_lines(comparisons: Iterable[Comparison]) -> str:
    return "".join(f"{one.model_dump_json()}\n" for one in comparisons)


def sanitised(comparison: Comparison) -> Comparison:
    """Reasons are shown in reports: they are cleaned like all text from outside."""
    verdicts = tuple(it.model_copy(update={"reason": sanitise(it.reason)[0].strip()}) for it in comparison.verdicts)
    return comparison.model_copy(update={"verdicts": verdicts})
