"""Question and answer schemas for the four roles. Answers state the evidence before the argument, and the argument
before the vote."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.methods.debate.rounds import Vote
from assayer.models import Frozen
from assayer_client.rewards import DebateTurn

_Text = Annotated[str, Field(min_length=1, max_length=1_500), TextRole.RESTATES]
_Copied = Annotated[str, Field(max_length=600), TextRole.COPIED]


class DebateQuestion(Frozen):
    question: str
    abstract: str
    idea: str
    round: int
    rounds: int
    seat: int
    """The seat's number within its role."""
    history: tuple[DebateTurn, ...]
    """All turns so far, oldest first."""


class ModeratorAnswer(Frozen):
    guidance: _Text = Field(description="At most 60 words to the seats that speak next.")
    proposes: _Text = Field(description="At most 30 words: what the idea would do, or that it says nothing of it.")
    decision: Literal["go_on", "halt"]


_OfAbstract = Annotated[_Copied, Field(description="6 to 40 consecutive words of the abstract, copied exactly.")]
_OfIdea = Annotated[
    _Copied, Field(description="6 to 40 consecutive words of the idea, copied exactly; empty if none come near.")
]


class ComparedElement(Frozen):
    """An element is named before the idea is quoted, so that it is not cut to fit the idea."""

    element: _Text = Field(description="At most 25 words: one core element of the abstract's methodology.")
    abstract_words: _OfAbstract
    idea_words: _OfIdea
    comparison: _Text = Field(description="At most 40 words: what the idea has in its place.")
    met: Literal["yes", "in_part", "no", "contradicted"]


class AnalystAnswer(Frozen):
    elements: tuple[ComparedElement, ...] = Field(min_length=1, max_length=3, description="At most three; often one.")
    argument: _Text = Field(description="At most 60 words.")
    vote: Vote


class Objection(Frozen):
    abstract_words: _OfAbstract
    idea_words: _OfIdea
    objection: _Text = Field(description="At most 40 words: what does not go together, and why.")
    touches: Literal["core", "secondary"]


class CriticAnswer(Frozen):
    objections: tuple[Objection, ...] = Field(max_length=3, description="At most three, the gravest first.")
    argument: _Text = Field(description="At most 80 words.")
    vote: Vote


class WeighedEvidence(Frozen):
    abstract_words: _OfAbstract
    idea_words: _OfIdea
    comparison: _Text = Field(description="At most 40 words: what these words show.")


class EvaluatorAnswer(Frozen):
    """Evidence comes before what others said, so that a seat judges for itself."""

    evidence: tuple[WeighedEvidence, ...] = Field(min_length=1, max_length=3, description="At most three; often one.")
    summary: _Text = Field(description="At most 80 words: who differs, and on which ground.")
    argument: _Text = Field(description="At most 50 words: your own judgement.")
    vote: Vote
