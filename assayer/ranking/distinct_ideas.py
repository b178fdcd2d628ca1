"""Reject rankings that contain the same idea twice."""

from collections import Counter
from collections.abc import Sequence

from assayer.errors import InputError
from assayer.models import Idea


def require_distinct(ideas: Sequence[Idea]) -> None:
    """Raise InputError, naming the sources, if two ideas have the same id."""
    counts = Counter(idea.id for idea in ideas)
    repeated_sources = [idea.source for idea in ideas if counts[idea.id] > 1]
    if repeated_sources:
        raise InputError(
            f"The same idea is listed more than once: {', '.join(repeated_sources)}.", "List every idea once."
        )
