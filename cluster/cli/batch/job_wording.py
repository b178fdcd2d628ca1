"""Wording of evaluation states in command output."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assayer_client.evaluations import EvaluationScores


def describe_counts(counts: Iterable[tuple[str, int]]) -> list[str]:
    """Put counts into words, always in the same order: `146 succeeded`, `12 running`, …."""
    order = ("succeeded", "running", "queued", "failed", "cancelled")
    ordered_counts = sorted(counts, key=lambda item: order.index(item[0]) if item[0] in order else len(order))
    return [f"{count:,} {state}" for state, count in ordered_counts]


def describe_standing(state: str) -> str:
    """Put a state into words that complete a sentence, such as `has failed`."""
    endings = {"failed": "has failed", "succeeded": "has succeeded", "cancelled": "was cancelled"}
    return endings.get(state) or f"is {state}"


def describe_score(scores: "EvaluationScores") -> str:
    """Describe a score in words, such as `63 of 100, low certainty`."""
    if scores.score is None:
        return "none"
    certainty = f", {scores.certainty} certainty" if scores.certainty else ""
    return f"{scores.score:.0f} of 100{certainty}{'' if scores.complete else ', partial'}"
