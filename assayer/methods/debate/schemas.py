"""What the four roles are asked, and what they answer: evidence before argument, argument before vote."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.methods.debate.rounds import Vote
from assayer.models import Frozen
from assayer.models.reward import DebateRole

__all__ = [
    "AnalystAnswer",
    "ComparedElement",
    "CriticAnswer",
    "DebateQuestion",
    "EarlierQuote",
    "EarlierTurn",
    "EvaluatorAnswer",
    "ModeratorAnswer",
    "Objection",
    "QuotedPair",
    "WeighedEvidence",
]

_Text = Annotated[str, Field(min_length=1, max_length=1_500), TextRole.RESTATES]
_Copied = Annotated[str, Field(max_length=600), TextRole.COPIED]


class EarlierQuote(Frozen):
    source: Literal["idea", "abstract"]
    text: str
    found: bool


class EarlierTurn(Frozen):
    """What a seat said before, as the prompt shows it."""

    round: int
    role: DebateRole
    seat: int
    vote: Vote | None
    argument: str
    quotes: tuple[EarlierQuote, ...]


class DebateQuestion(Frozen):
    question: str
    abstract: str
    idea: str
    round: int
    rounds: int
    seat: int
    """Among the seats of its role."""
    history: tuple[EarlierTurn, ...]
    """All that was said before, oldest first."""


class ModeratorAnswer(Frozen):
    proposes: _Text = Field(description="At most 30 words: what the idea would do, or that it says nothing of it.")
    guidance: _Text = Field(description="At most 60 words to the seats that speak next.")
    decision: Literal["go_on", "halt"]


class QuotedPair(Frozen):
    """Where a comparison stands in the two texts."""

    abstract_words: _Copied = Field(description="6 to 30 consecutive words of the abstract, copied exactly.")
    idea_words: _Copied = Field(
        description="6 to 30 consecutive words of the idea, copied exactly; empty if none come near."
    )


class ComparedElement(QuotedPair):
    element: _Text = Field(description="At most 25 words: one core element of the abstract's methodology.")
    comparison: _Text = Field(description="At most 40 words: what the idea has in its place.")
    met: Literal["yes", "in_part", "no", "contradicted"]


class AnalystAnswer(Frozen):
    elements: tuple[ComparedElement, ...] = Field(
        min_length=1, max_length=4, description="The one to three that count."
    )
    argument: _Text = Field(description="At most 60 words.")
    vote: Vote


class Objection(QuotedPair):
    objection: _Text = Field(description="At most 40 words: what does not go together, and why.")
    touches: Literal["core", "secondary"]


class CriticAnswer(Frozen):
    objections: tuple[Objection, ...] = Field(max_length=4, description="At most three, the gravest first.")
    argument: _Text = Field(description="At most 60 words.")
    vote: Vote


class WeighedEvidence(QuotedPair):
    comparison: _Text = Field(description="At most 40 words: what these words show.")


class EvaluatorAnswer(Frozen):
    summary: _Text = Field(description="At most 80 words: who holds what, and on which ground.")
    evidence: tuple[WeighedEvidence, ...] = Field(
        min_length=1, max_length=4, description="One to three, in which you decide."
    )
    argument: _Text = Field(description="At most 50 words: your own judgement.")
    vote: Vote
