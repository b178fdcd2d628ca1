"""Learning curve for a policy in training, step by step."""

from pydantic import Field

from assayer.models.base import Frozen


class LearningPoint(Frozen):
    """Averages over all completions sampled for one optimiser step."""

    step: int = Field(ge=1)
    reward: float | None
    """Mean reward of the judged completions; None if none was judged."""
    judged: float = Field(ge=0, le=1)
    """Share of the completions for which the judge reached a verdict."""
    length: float
    """Mean length of a completion, in tokens."""
    length_rewarded: float | None
    """Mean tokens of completions with a reward above 0; None if there were none."""
    length_unrewarded: float | None
    """Mean tokens of completions with a reward of 0 or less; None if there were none."""
    truncated: float = Field(ge=0, le=1)
    """Share of completions that reached the maximum length without ending."""
    entropy: float
    """Entropy of the policy, in nats per token."""
    divergence: float | None = None
    """KL divergence from the initial policy, in nats per token; None if its weight is 0, so that it is not computed."""
    accuracy: float | None = None
    """Mean reward for score accuracy, if scores are rewarded; 1 is best."""
    structure: float | None = None
    """Mean reward for graph structure, if graphs are rewarded; from 0 to 1."""
    scored: float | None = Field(default=None, ge=0, le=1)
    """Share of completions with a usable score, if scores are rewarded."""
    loss: float
    seconds: float
    """Duration of the step in seconds: sampling, judging and updating."""


class LearningCurve(Frozen):
    title: str
    steps: int
    """Number of steps requested."""
    loss: str
    """Name of the loss and its scaling in the trainer, such as `dr_grpo` scaled by `none`."""
    judge: str
    points: tuple[LearningPoint, ...]
