"""Rewards: whether a generated idea matches the methodology of a reference, and the debate that decided it."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.models.base import Absent, Dollars, Frozen
from assayer.models.report import PromptVersion

DebateRole = Literal["moderator", "analyst", "critic", "evaluator"]
"""Role in a debate. The moderator keeps the debate on methodology, the analyst compares core elements, the critic looks
for contradictions, the evaluator decides."""


class RewardItem(Frozen):
    """Idea to be judged against a reference."""

    question: str
    """Research question for which the idea was generated."""
    idea: str
    abstract: str
    """Abstract of the reference, whose methodology the idea is compared with."""


class DebateQuote(Frozen):
    """Words from the idea or the abstract that a speaker relies on."""

    source: Literal["idea", "abstract"]
    text: str
    """Words as in the source if they were found there, otherwise as the speaker quoted them."""
    found: bool


class DebateTurn(Frozen):
    """Contribution of one seat in one round of a debate."""

    round: Annotated[int, Field(ge=1)]
    role: DebateRole
    seat: Annotated[int, Field(ge=1)]
    """Number of the seat among those with the same role."""
    vote: Literal["match", "no_match"] | Absent
    """Vote of the seat; absent if the role has no vote or its answer was lost."""
    argument: str
    quotes: tuple[DebateQuote, ...] = ()


class Reward(Frozen):
    """Verdict of a judge on one item. If the judge failed, the value is absent, never 0."""

    value: Literal[0, 1] | Absent
    reason: str
    """Reason for the value in one or two sentences; for an absent value, the same text as its reason."""
    judge: str
    """Name of the composition, or `viewpoints` for the judge without a language model."""
    guard: str | None = None
    """Check that decided before any call to a model; None if no check did."""
    leakage: bool = False
    """Whether the idea repeats the reference's own words; such a match earns no reward."""
    transcript: tuple[DebateTurn, ...] = ()
    decided_in_round: int | None = None
    similarity: float | None = None
    """Share of the reference's method viewpoints that the idea matches, 0 to 1, from the judge without a language
    model."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Dollars | Absent = 0.0
    models: tuple[str, ...] = ()
    prompts: tuple[PromptVersion, ...] = ()
