"""Rewards: whether a generated idea matches the methodology of a reference, and the debate in which it was decided."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.models.base import Absent, Dollars, Frozen
from assayer.models.report import PromptVersion

__all__ = ["DebateQuote", "DebateRole", "DebateTurn", "Reward", "RewardItem"]

DebateRole = Literal["moderator", "analyst", "critic", "evaluator"]
"""Moderator: keeps to methodology; analyst: core elements, compared; critic: contradictions; evaluator: decides."""


class RewardItem(Frozen):
    """What is judged: an idea against a reference."""

    question: str
    """The research question that the idea was generated for."""
    idea: str
    abstract: str
    """Of the reference, in which the methodology stands that the idea is held against."""


class DebateQuote(Frozen):
    """Words that a speaker relies on."""

    source: Literal["idea", "abstract"]
    text: str
    """As the source has them, where they were found; else as the speaker gave them."""
    found: bool


class DebateTurn(Frozen):
    """What one seat said in one round."""

    round: Annotated[int, Field(ge=1)]
    role: DebateRole
    seat: Annotated[int, Field(ge=1)]
    """Among the seats of its role."""
    vote: Literal["match", "no_match"] | Absent
    """Absent where the role has no vote, or its answer was lost."""
    argument: str
    quotes: tuple[DebateQuote, ...] = ()


class Reward(Frozen):
    """A judge's verdict on one item. A judge that failed gives none: absent, never 0."""

    value: Literal[0, 1] | Absent
    reason: str
    """In a sentence or two; of an absent one, the same as there."""
    judge: str
    """The composition's name, or `viewpoints` for the judge without a language model."""
    guard: str | None = None
    """The check that decided before any call to a model; None where none did."""
    leakage: bool = False
    """The idea repeats the reference's own words: a match that earns nothing."""
    transcript: tuple[DebateTurn, ...] = ()
    decided_in_round: int | None = None
    similarity: float | None = None
    """Of the judge without a model: the share of the reference's method viewpoints that the idea meets, 0 to 1."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Dollars | Absent = 0.0
    models: tuple[str, ...] = ()
    prompts: tuple[PromptVersion, ...] = ()
