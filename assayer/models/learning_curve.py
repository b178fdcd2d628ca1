"""How a policy learns, step by step."""

from pydantic import Field

from assayer.models.base import Frozen

__all__ = ["LearningCurve", "LearningPoint"]


class LearningPoint(Frozen):
    """One optimiser step, over all completions that were drawn for it."""

    step: int = Field(ge=1)
    reward: float | None
    """Mean of those that were judged; None where none was."""
    judged: float = Field(ge=0, le=1)
    """Share of the completions that the judge came to a verdict on."""
    length: float
    """Mean tokens of a completion."""
    length_rewarded: float | None
    """Of those with a reward above 0; None where there was none."""
    length_unrewarded: float | None
    """Of those with a reward of 0 or less."""
    truncated: float = Field(ge=0, le=1)
    """Share that reached the greatest length without an end."""
    entropy: float
    """Nats a token, under the policy."""
    divergence: float | None = None
    """KL from the policy at the start, nats a token; None where it has no weight and is not computed."""
    accuracy: float | None = None
    """Of scores, as far as they are what is rewarded; 1 at best."""
    structure: float | None = None
    """Of graphs, likewise; from 0 to 1."""
    scored: float | None = Field(default=None, ge=0, le=1)
    """Share that came to a score which could be used, likewise."""
    loss: float
    seconds: float
    """Of the step: sampling, judging and updating."""


class LearningCurve(Frozen):
    title: str
    steps: int
    """Asked for."""
    loss: str
    """`dr_grpo`, scaled by `none`: as the trainer calls them."""
    judge: str
    points: tuple[LearningPoint, ...]
