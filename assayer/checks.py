"""What a schema cannot say of an answer, checked alike in every method: complaints in plain words."""

from collections import Counter
from collections.abc import Iterable, Sequence

__all__ = ["each_once"]


def each_once(wanted: Sequence[str], got: Iterable[str], noun: str) -> list[str]:
    """Complaints unless every wanted label was answered exactly once."""
    counts = Counter(got)
    complaints = [f"There is no entry for {noun} {label}." for label in wanted if label not in counts]
    complaints += [f"{noun.capitalize()} {label} has {n} entries." for label, n in counts.items() if n > 1]
    complaints += [f"{label} is not a {noun} given here." for label in counts if label not in set(wanted)]
    return complaints
