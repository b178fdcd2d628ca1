"""Questions and answers of the board: reviews, their meta-review, and advice from later work.

Labels are local to one prompt: `P3` a find, `D2` a dimension, `R1` a reviewer, `W2` a weakness.
"""

import datetime as dt
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from assayer.methods.innoeval.dimensions import Dimension, Scale
from assayer.methods.innoeval.schemas import Find, FindLabel
from assayer.models import Frozen, Reviewer, Section

__all__ = [
    "Advice",
    "AdviceQuestion",
    "Claim",
    "DimensionReviews",
    "FindNote",
    "Judgement",
    "JudgingQuestion",
    "LaterStep",
    "MetaQuestion",
    "OneReview",
    "Synthesis",
    "Weakness",
    "WeighedDispute",
    "judgement_on",
]

FitLevel = Literal["good", "partial", "poor"]


class Claim(Frozen):
    text: str = Field(description="At most 50 words; cites finds, if any, by label in square brackets. No links.")


class FindNote(Frozen):
    """What was said about one find and one part of the idea, when everything found was read."""

    label: str
    """Of the find."""
    part: str
    stance: Literal["supports", "contradicts"]
    analysis: str
    quote: str
    """Empty when no quote of it could be verified."""


class JudgingQuestion(Frozen):
    digest: str
    idea: str
    """Empty when the idea is read by section."""
    sections: tuple[Section, ...]
    left_out: tuple[str, ...]
    evidence: tuple[Find, ...]
    notes: tuple[FindNote, ...]
    fit: FitLevel
    reviewer: Reviewer
    dimension: Dimension


class Judgement(Frozen):
    """A reviewer's review of an idea in one respect."""

    strengths: list[Claim] = Field(max_length=3, description="The weightiest first; may be empty.")
    weaknesses: list[Claim] = Field(max_length=3, description="The weightiest first; may be empty.")
    suggestions: list[Claim] = Field(max_length=1, description="The one change that would raise this score most.")
    rationale: str = Field(
        description="One to three sentences: which band fits, and the facts that keep the idea from the next higher "
        "and the next lower."
    )
    score: float | None


@cache
def judgement_on(scale: Scale) -> type[Judgement]:
    """The same answer with the score held to one scale."""
    rating = Annotated[float, Field(ge=scale.min, le=scale.max)] | None
    description = (
        f"{scale.min:g} to {scale.max:g} by the rubric, whole or half, inside a band; "
        "null only if nothing given lets anyone judge."
    )
    return create_model("Judgement", __base__=Judgement, score=(rating, Field(description=description)))


class OneReview(Frozen):
    """A review as the meta-review sees it; texts carry the labels of its prompt."""

    reviewer: str
    score: float | None
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    suggestions: tuple[str, ...]
    rationale: str


class DimensionReviews(Frozen):
    label: str
    title: str
    question: str
    scale_min: float
    scale_max: float
    reviews: tuple[OneReview, ...]


class MetaQuestion(Frozen):
    digest: str
    evidence: tuple[Find, ...]
    """What reviewers cited, with one statement of what it shows as its text."""
    reviewers: tuple[Reviewer, ...]
    dimensions: tuple[DimensionReviews, ...]


class WeighedDispute(Frozen):
    dimension: str = Field(pattern=r"^D\d+$", description="Label of one of the dimensions given, e.g. D1.")
    positions: str = Field(description="At most 50 words: who holds what, by label, e.g. R2, and on which ground.")
    weighing: str = Field(description="At most 40 words: which ground weighs more, or what would have to be known.")


class Synthesis(Frozen):
    disputes: list[WeighedDispute] = Field(max_length=3, description="The most consequential first; often one or none.")
    strengths: list[Claim] = Field(max_length=3, description="The weightiest first.")
    weaknesses: list[Claim] = Field(max_length=3, description="The weightiest first.")
    suggestions: list[Claim] = Field(max_length=3, description="What would change most for the least work first.")
    assessment: str = Field(
        description="60 to 150 words for a reader who reads nothing else. No scores, no recommendation."
    )


class Weakness(Frozen):
    label: str
    dimension: str
    text: str


class AdviceQuestion(Frozen):
    digest: str
    idea: str
    day: dt.date
    """By which the idea is judged."""
    weaknesses: tuple[Weakness, ...]
    evidence: tuple[Find, ...]


class LaterStep(Frozen):
    label: FindLabel
    quote: str = Field(description="8 to 40 consecutive words copied exactly from this find's text.")
    shows: str = Field(description="At most 30 words: what this later work found or built that bears on the idea.")
    weakness: Annotated[str, Field(pattern=r"^W\d+$")] | None = Field(
        description="Label of the weakness that the change answers, e.g. W1; null if it answers none of them."
    )
    change: str = Field(description="At most 50 words: what to change in the plan, how, and what that would gain.")


class Advice(Frozen):
    steps: list[LaterStep] = Field(max_length=5, description="The most useful first; may be empty.")
