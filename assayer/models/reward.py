"""Input for rewards, which state whether a generated idea matches a reference's methodology."""

from assayer.models.base import Frozen


class RewardItem(Frozen):
    """Idea to be judged against a reference."""

    question: str
    """Research question for which the idea was generated."""
    idea: str
    abstract: str
    """Abstract of the reference. The idea is compared with its methodology."""
