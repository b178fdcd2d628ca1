"""What is no idea to judge, told before any model is asked."""

from typing import NamedTuple

from assayer.models.reward import RewardItem

__all__ = ["GuardStop", "stopped_by"]


class GuardStop(NamedTuple):
    """The item earns nothing, and this is why."""

    name: str
    """`empty`, `placeholder`, `copied_question`, ...; of the reward's `guard`."""
    reason: str
    leakage: bool = False
    """The idea repeats the abstract's own words: it matches by definition, and says nothing about who wrote it."""


def stopped_by(item: RewardItem) -> GuardStop | None:
    if not any(letter.isalnum() for letter in item.idea):
        return GuardStop("empty", "The idea is empty.")
    return None
