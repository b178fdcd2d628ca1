"""Questions and answers of the board: reviews, their meta-review, and advice from later work.

Labels are local to one prompt: `P3` a find, `D2` a dimension, `R1` a reviewer, `W2` a weakness.
"""

import datetime as dt
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, create_model

from assayer.methods.innoeval.dimensions import Dimension
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


def _longest(words: int) -> int:
    """Characters that an answer may have where so many words are asked for: twice as much is out of hand."""
    return 2 * 8 * words


class Claim(Frozen):
    text: str = Field(
        max_length=_longest(50),
        description="At most 50 words; cites finds, if any, by label in square brackets. No links.",
    )


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
    """Headings of what speaks to other dimensions."""
    no_room: tuple[str, ...]
    evidence: tuple[Find, ...]
    notes: tuple[FindNote, ...]
    fit: FitLevel
    day: dt.date | None
    """By which all of it was public; None when nobody set one."""
    reviewer: Reviewer
    dimension: Dimension


class Judgement(Frozen):
    """A reviewer's review of an idea in one respect."""

    strengths: list[Claim] = Field(max_length=3, description="The weightiest first; may be empty.")
    weaknesses: list[Claim] = Field(max_length=3, description="The weightiest first; may be empty.")
    suggestions: list[Claim] = Field(max_length=1, description="The one change that would raise this score most.")
    rationale: str = Field(
        max_length=_longest(100),
        description="One to three sentences: the band, and the facts that keep the idea from the next higher and the "
        "next lower. No labels.",
    )
    score: float | None


@cache
def judgement_on(scores: tuple[float, ...]) -> type[Judgement]:
    """The same answer with the score held to those of a rubric."""

    def listed(score: float) -> float:
        if score not in scores:
            raise ValueError(
                f"{score:g} is no score of this rubric; there are {', '.join(f'{one:g}' for one in scores)}"
            )
        return score

    values = [int(one) if one.is_integer() else one for one in map(float, scores)]
    rating = Annotated[float, AfterValidator(listed), Field(json_schema_extra={"enum": values})] | None
    description = "One of the rubric's scores; null only if nothing given lets anyone judge."
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
    positions: str = Field(
        max_length=_longest(50), description="At most 50 words: who holds what, e.g. R2, and on which ground."
    )
    weighing: str = Field(
        max_length=_longest(40), description="At most 40 words: which ground weighs more, or what would settle it."
    )


class Synthesis(Frozen):
    disputes: list[WeighedDispute] = Field(max_length=3, description="The most consequential first; may be empty.")
    strengths: list[Claim] = Field(max_length=3, description="The weightiest first.")
    weaknesses: list[Claim] = Field(max_length=3, description="The weightiest first.")
    suggestions: list[Claim] = Field(max_length=3, description="What would change most for the least work first.")
    assessment: str = Field(
        max_length=_longest(180),
        description="80 to 180 words for a reader who reads nothing else. No labels, scores or recommendation.",
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
    shows: str = Field(
        max_length=_longest(30),
        description="At most 30 words: what this later work found or built that bears on the idea.",
    )
    weakness: Annotated[str, Field(pattern=r"^W\d+$")] | None = Field(
        description="Label of the weakness that the change would lessen, e.g. W1; null if it lessens none of them."
    )
    change: str = Field(
        max_length=_longest(50),
        description="At most 50 words: what to change in the plan, how, and what that would gain.",
    )


class Advice(Frozen):
    steps: list[LaterStep] = Field(max_length=5, description="The most useful first; may be empty.")
