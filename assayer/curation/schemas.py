"""Question and answer schemas for curation, candidates and scores. Answers state their evidence before the verdict."""

from functools import cache
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model

from assayer.citing.answer_texts import TextRole
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Frozen
from assayer_client.curation import PaperKind

Restated = Annotated[str, TextRole.RESTATES]
DimensionLabel = Annotated[str, Field(pattern=r"^D[1-9]\d?$", description="Label of the dimension, as D1.")]


class PaperQuestion(Frozen):
    title: str
    abstract: str


class KindAnswer(Frozen):
    quote: Annotated[str, TextRole.COPIED] = Field(
        description="5 to 40 consecutive words of title or abstract that say most about what the paper brings."
    )
    reason: Restated = Field(
        max_length=600,
        description="At most 40 words: what it brings; what would be left without a second kind that comes near.",
    )
    kind: PaperKind | Literal["unclear"]


class RefusedQuestion(Frozen):
    """A question that was rejected because it revealed the method."""

    text: str
    repeated: tuple[str, ...]
    """Words that revealed the method."""


class QuestionQuestion(PaperQuestion):
    refused: tuple[RefusedQuestion, ...] = ()


class QuestionAnswer(Frozen):
    problem: Restated = Field(max_length=800, description="At most 40 words: what was unsolved before this paper.")
    method: Restated = Field(
        max_length=800, description="At most 40 words: what the paper does about it. None of it may be in the question."
    )
    other_answer: Restated = Field(
        max_length=500, description="At most 25 words: a wholly different method that would answer it."
    )
    no_answer: Restated = Field(
        max_length=500, description="At most 25 words: a sensible idea of the field that would not answer it."
    )
    question: Restated = Field(
        min_length=20, max_length=600, description="One sentence of 10 to 45 words that ends with a question mark."
    )


class ProposalQuestion(Frozen):
    question: str


class ProposalAnswer(Frozen):
    """The name comes last, so that it does not commit the model to a method that is not worked out yet."""

    problem: str = Field(max_length=800, description="At most 40 words: the difficulty at the heart of the question.")
    gap: str = Field(max_length=800, description="At most 40 words: what the usual ways leave open, and why.")
    bridge: str = Field(max_length=800, description="At most 40 words: the insight by which the method closes that.")
    idea: str = Field(
        min_length=200,
        max_length=6_000,
        description="200 to 400 words: the method, step by step, and a test that could refute it.",
    )
    title: str = Field(min_length=5, max_length=200, description="At most 15 words: what the method does.")


class ScoringQuestion(Frozen):
    idea: str
    question: str | None
    """The research question that the idea answers, or None."""
    dimensions: tuple[RubricDimension, ...]


class ScoringEntry(Frozen):
    label: DimensionLabel
    speaks_for: Restated = Field(
        max_length=600, description="At most 30 words: the element of the plan that counts most for it here."
    )
    speaks_against: Restated = Field(
        max_length=600, description="At most 30 words: the element, or the gap, that counts most against it here."
    )
    reason: Restated = Field(
        max_length=600,
        description="At most 40 words: what speaks for a better band, what for a worse one; no number.",
    )
    score: float | None


class ScoringAnswer(Frozen):
    entries: tuple[ScoringEntry, ...]

    def get_entry(self, number: int) -> ScoringEntry:
        """Return the entry for the question's dimension with this number, counting from 1."""
        return next(entry for entry in self.entries if entry.label == f"D{number}")


@cache
def build_scoring_answer_schema(scores: tuple[float, ...], dimensions: int) -> type[ScoringAnswer]:
    """Return the answer schema restricted to this number of entries and to the scores that the rubric allows."""

    def check_listed(score: float) -> float:
        if score not in scores:
            raise ValueError(f"{score:g} is no score here; there are {', '.join(f'{item:g}' for item in scores)}")
        return score

    values = [int(item) if item.is_integer() else item for item in map(float, scores)]
    rating = Annotated[float, AfterValidator(check_listed), Field(json_schema_extra={"enum": values})] | None
    score_field = Field(description="One of the rubric's scores; null only if the text does not let anyone judge.")
    entry = create_model("Entry", __base__=ScoringEntry, score=(rating, score_field))
    entries_type: Any = GenericAlias(tuple, (entry, ...))
    entries_field = Field(min_length=dimensions, max_length=dimensions, description="One for each dimension, in order.")
    return create_model("Answer", __base__=ScoringAnswer, entries=(entries_type, entries_field))
