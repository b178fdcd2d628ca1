"""Learning curve of a policy, step by step."""

from pydantic import Field

from assayer.models.base import Frozen


class LearningPoint(Frozen):
    """Averages of one optimiser step over all completions sampled for it."""

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
    """Entropy under the policy, in nats per token."""
    divergence: float | None = None
    """KL divergence from the initial policy, in nats per token; None if it has no weight and is therefore not computed.
    """
    accuracy: float | None = None
    """Accuracy of scores, if scores are rewarded; 1 is best."""
    structure: float | None = None
    """Structure of graphs, if graphs are rewarded; from 0 to 1."""
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
    """Loss and its scaling, in the trainer's terms, such as `dr_grpo` scaled by `none`."""
    judge: str
    points: tuple[LearningPoint, ...]
