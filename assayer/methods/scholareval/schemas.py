"""Questions and answers of the ScholarEval tasks.

Questions are what the prompt files render; answers are closed schemas, evidence before verdict. Labels are
local to one prompt (see `assayer.citing.evidence`).
"""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.evidence import Evidence
from assayer.models import FitLevel, Frozen

Stance = Literal["supports", "neutral", "contradicts"]
NoveltyStanding = Literal["already_there", "overlaps", "goes_beyond", "not_touched"]
"""Of the idea beside one paper, along one dimension. The paper has three values; `not_touched` keeps silence
apart from being ahead."""
Restated = Annotated[str, TextRole.RESTATES]
QueryText = Annotated[str, TextRole.QUERY]
PaperLabel = Annotated[str, Field(pattern=r"^P\d+$", description="Label of one of the papers given, e.g. P3.")]
CitedText = Annotated[
    str,
    Field(description="At most 60 words; cites papers by label in square brackets, e.g. [P3]. No links."),
    TextRole.CITES,
]
QuoteText = Annotated[
    str,
    Field(
        description="8 to 40 consecutive words copied exactly from this paper's text; "
        "an empty string if nothing in it can carry the point."
    ),
    TextRole.COPIED,
]


class Claim(Frozen):
    text: CitedText


Rationale = Annotated[str, Field(description="One or two sentences: which band of the rubric fits, and why.")]
Rating = Annotated[
    Annotated[float, Field(ge=0, le=10)] | None,
    Field(description="0 to 10 by the rubric, halves are allowed; null only if nothing given here lets anyone judge."),
]


# Soundness


class MethodsQuestion(Frozen):
    idea: str
    limit: int


class ProposedMethod(Frozen):
    name: Restated = Field(description="3 to 10 words.")
    kind: Literal["system", "algorithm", "experiment", "study", "analysis", "ablation", "theory"]
    description: Restated = Field(
        description="40 to 120 words, readable without the idea: what is done, to what, measured how."
    )


class Methods(Frozen):
    methods: list[ProposedMethod] = Field(min_length=1, description="The most important first.")


class QueryQuestion(Frozen):
    idea: str
    method: ProposedMethod


class Query(Frozen):
    query: QueryText = Field(description="One natural-language query of 10 to 70 words. No operators, no quotes.")


class ReadingQuestion(Frozen):
    idea: str
    method: ProposedMethod
    evidence: tuple[Evidence, ...]


class PaperReading(Frozen):
    label: PaperLabel
    relevant: bool
    method: Restated = Field(description="What the paper did that is comparable; empty if not relevant.")
    results: Restated = Field(description="What came out, with numbers where given; empty if not relevant.")
    context: Restated = Field(description="Conditions that decide whether it carries over; empty if not relevant.")
    quote: QuoteText
    stance: Stance


class Readings(Frozen):
    readings: list[PaperReading] = Field(description="One for each paper given, in order.")


class PaperNote(Frozen):
    """A relevant paper as the review of a method sees it."""

    label: str
    title: str
    year: int | None
    stance: Stance
    method: str
    results: str
    context: str
    quote: str
    """Empty when no quote of this paper could be verified."""
    similarity: float | None


class ReviewQuestion(Frozen):
    idea: str
    method: ProposedMethod
    notes: tuple[PaperNote, ...]
    fit: FitLevel


class MethodReview(Frozen):
    support: list[Claim] = Field(max_length=5, description="The strongest first.")
    contradictions: list[Claim] = Field(max_length=5, description="The strongest first.")
    suggestions: list[Claim] = Field(max_length=4, description="The most important first.")
    rationale: Rationale
    score: Rating


class ReviewDigest(Frozen):
    """One method's review as the summary sees it; texts carry the summary's own labels."""

    name: str
    score: float
    support: tuple[str, ...]
    contradictions: tuple[str, ...]
    suggestions: tuple[str, ...]


class SummaryQuestion(Frozen):
    idea: str
    reviews: tuple[ReviewDigest, ...]
    labels: tuple[str, ...]


class SoundnessSummary(Frozen):
    strengths: list[Claim] = Field(max_length=3)
    weaknesses: list[Claim] = Field(max_length=3)
    suggestions: list[Claim] = Field(max_length=3)


# Contribution


class DimensionsQuestion(Frozen):
    idea: str
    limit: int


class ContributionDimension(Frozen):
    name: Restated = Field(description="2 to 6 words.")
    statements: list[Restated] = Field(
        min_length=1,
        max_length=3,
        description="What the idea claims to add here; each 15 to 50 words, readable without the idea.",
    )


class Dimensions(Frozen):
    dimensions: list[ContributionDimension] = Field(min_length=1, description="The most central first.")


class LabelledText(Frozen):
    label: str
    text: str


class QueriesQuestion(Frozen):
    idea: str
    dimension: str
    statements: tuple[LabelledText, ...]


class StatementQueries(Frozen):
    statement: str = Field(pattern=r"^S\d+$", description="Label of one of the statements given, e.g. S1.")
    queries: list[QueryText] = Field(min_length=1, max_length=3, description="Each 3 to 10 words. No operators.")


class Queries(Frozen):
    queries: list[StatementQueries] = Field(description="One entry for each statement given, in order.")


class RelevanceQuestion(Frozen):
    idea: str
    evidence: tuple[Evidence, ...]


class Relevance(Frozen):
    label: PaperLabel
    overlap: str = Field(description="At most 20 words: what it shares with the idea, what keeps them apart.")
    score: int = Field(ge=0, le=5)


class Relevances(Frozen):
    judgements: list[Relevance] = Field(description="One for each paper given, in order.")


class ComparisonQuestion(Frozen):
    idea: str
    dimensions: tuple[LabelledText, ...]
    evidence: tuple[Evidence, ...]


class NoveltyVerdict(Frozen):
    dimension: str = Field(pattern=r"^D\d+$", description="Label of one of the dimensions given, e.g. D1.")
    reason: str = Field(description="At most 40 words: what the paper has, what the idea has.")
    quote: QuoteText
    verdict: NoveltyStanding


class PaperVerdicts(Frozen):
    label: PaperLabel
    verdicts: list[NoveltyVerdict] = Field(description="One for each dimension given, in order.")


class Comparisons(Frozen):
    comparisons: list[PaperVerdicts] = Field(description="One for each paper given, in order.")


class ComparedPaper(Frozen):
    """One paper along one dimension, as the synthesis sees it."""

    label: str
    title: str
    year: int | None
    verdict: NoveltyStanding
    reason: str
    quote: str


class SynthesisQuestion(Frozen):
    idea: str
    dimension: ContributionDimension
    compared: tuple[ComparedPaper, ...]
    """Papers that touch the dimension."""
    untouching: int
    """How many relevant papers were compared and do not."""
    fit: FitLevel


class DimensionReview(Frozen):
    strengths: list[Claim] = Field(max_length=4, description="The most important first.")
    weaknesses: list[Claim] = Field(max_length=4, description="The most important first.")
    suggestions: list[Claim] = Field(max_length=4, description="The most important first.")
    rationale: Rationale
    score: Rating
