"""Question and answer schemas for the ScholarEval tasks.

Prompt files render the questions. Answers are closed schemas that state the evidence before the verdict. Labels are
valid only within one prompt (see `assayer.citing.evidence`)."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole, compute_max_chars
from assayer.citing.evidence import Evidence
from assayer.models import FitLevel, Frozen, ScoreCertainty

Stance = Literal["supports", "neutral", "contradicts", "background"]
"""A note's stance. `background` means that it describes the setting or a shared component, but no outcome."""
NoveltyStanding = Literal["paper_has_it", "paper_has_part", "idea_goes_further"]
"""The idea's standing relative to one paper, in one dimension that the paper touches. A paper that does not touch the
dimension gets no verdict."""
Purpose = Literal["soundness", "contribution"]
Restated = Annotated[str, TextRole.RESTATES]


QueryText = Annotated[str, Field(min_length=1, description="2 to 8 words. No operators, no quotes."), TextRole.QUERY]
PaperLabel = Annotated[str, Field(pattern=r"^P\d+$", description="Label of one of the papers given, e.g. P3.")]
CitedText = Annotated[
    str,
    Field(
        max_length=compute_max_chars(60),
        description="At most 60 words; cites papers by label in square brackets, e.g. [P3]. No links.",
    ),
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


GivenCertainty = Annotated[
    ScoreCertainty, Field(description="Of the evidence: how much there is and how directly it bears on this.")
]
Rationale = Annotated[
    str,
    Field(
        max_length=compute_max_chars(80),
        description="One or two sentences: what decides the score, for a reader who does not see the rubric.",
    ),
]
Rating = Annotated[
    Annotated[float, Field(ge=0, le=10)] | None,
    Field(description="0 to 10 by the rubric; null if it is underspecified, or nothing given here lets anyone judge."),
]


# Soundness


class MethodsQuestion(Frozen):
    idea: str
    limit: int


class ProposedMethod(Frozen):
    name: Restated = Field(description="3 to 10 words.")
    kind: Literal["system", "algorithm", "experiment", "study", "analysis", "ablation", "theory"]
    description: Restated = Field(
        max_length=compute_max_chars(120),
        description="40 to 120 words, readable without the idea: what is done, to what, measured how.",
    )
    queries: list[QueryText] = Field(
        min_length=1, max_length=3, description="Two or three searches for papers that did such a thing."
    )


class Methods(Frozen):
    methods: list[ProposedMethod] = Field(min_length=1, description="The most important first.")


class LabelledText(Frozen):
    label: str
    text: str


class TitleShown(Frozen):
    """A paper of which a prompt shows at most title and year."""

    label: str
    title: str
    """The title, on one line."""
    year: int | None
    similarity: float | None = None
    """Highest cosine similarity with the texts for which the paper was found; never shown to a model."""


class FirstLookQuestion(Frozen):
    """Question in the title screening, for both modules: which papers are worth opening?"""

    purpose: Purpose
    parts: tuple[LabelledText, ...]
    """Methods (`M1` …) or dimensions (`D1` …)."""
    shown: tuple[TitleShown, ...]
    most: int


class FirstLook(Frozen):
    labels: list[PaperLabel] = Field(
        description="Papers worth opening, the most telling first; empty if there is none."
    )


class ReadingQuestion(Frozen):
    parts: tuple[LabelledText, ...]
    """Methods, labelled `M1` …"""
    evidence: tuple[Evidence, ...]


class MethodNote(Frozen):
    """Findings of a paper on one method."""

    method: str = Field(pattern=r"^M\d+$", description="Label of one of the methods given, e.g. M1.")
    did: Restated = Field(
        max_length=compute_max_chars(40),
        description="At most 40 words: what the paper did that is comparable, and how it differs.",
    )
    results: Restated = Field(
        max_length=compute_max_chars(40), description="At most 40 words: what came out, with numbers where given."
    )
    context: Restated = Field(
        max_length=compute_max_chars(25),
        description="At most 25 words: conditions that decide whether it carries over.",
    )
    quote: QuoteText
    stance: Stance


class PaperReading(Frozen):
    label: PaperLabel
    notes: list[MethodNote] = Field(
        description="One for each method that the paper bears on; empty if it bears on none."
    )


class Readings(Frozen):
    readings: list[PaperReading] = Field(description="One for each paper given, in order.")


class PaperNote(Frozen):
    """A relevant paper, as shown to the model that reviews the method."""

    label: str
    title: str
    year: int | None
    stance: Stance
    did: str
    results: str
    context: str
    quote: str
    """Quote from the paper, or an empty string if no quote could be verified."""
    similarity: float | None


class ReviewQuestion(Frozen):
    idea: str
    method: ProposedMethod
    notes: tuple[PaperNote, ...]
    fit: FitLevel
    day: dt.date | None = None
    """Date as of which the idea is judged; None for today."""


class MethodReview(Frozen):
    support: list[Claim] = Field(max_length=5, description="The strongest first.")
    contradictions: list[Claim] = Field(max_length=5, description="The strongest first.")
    suggestions: list[Claim] = Field(max_length=4, description="The most important first.")
    rationale: Rationale
    certainty: GivenCertainty
    score: Rating


class ReviewDigest(Frozen):
    """The review of a method, as shown to the model that writes the summary; texts use the summary's own labels."""

    name: str
    score: float
    certainty: ScoreCertainty
    support: tuple[str, ...]
    contradictions: tuple[str, ...]
    suggestions: tuple[str, ...]


class SummaryQuestion(Frozen):
    idea: str
    reviews: tuple[ReviewDigest, ...]
    papers: tuple[TitleShown, ...]
    """Papers cited in the reviews. The prompt shows only their labels, in the reviews."""
    unreviewed: tuple[str, ...]
    """Names of methods that were not reviewed."""


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
    queries: list[QueryText] = Field(
        min_length=1, max_length=4, description="Two to four searches for earlier work that did this."
    )


class Dimensions(Frozen):
    dimensions: list[ContributionDimension] = Field(min_length=1, description="The most central first.")


class ComparisonQuestion(Frozen):
    parts: tuple[LabelledText, ...]
    """Dimensions, labelled `D1` …"""
    evidence: tuple[Evidence, ...]


class NoveltyVerdict(Frozen):
    dimension: str = Field(pattern=r"^D\d+$", description="Label of one of the dimensions given, e.g. D1.")
    reason: str = Field(
        max_length=compute_max_chars(40), description="At most 40 words: what the paper has, what the idea has."
    )
    quote: QuoteText
    verdict: NoveltyStanding


class PaperVerdicts(Frozen):
    label: PaperLabel
    verdicts: list[NoveltyVerdict] = Field(
        description="One for each dimension that the paper touches; empty if it touches none."
    )


class Comparisons(Frozen):
    comparisons: list[PaperVerdicts] = Field(description="One for each paper given, in order.")


class ComparedPaper(Frozen):
    """One paper in one dimension, as shown to the model that writes the synthesis."""

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
    """Number of papers that were compared but do not touch the dimension."""
    fit: FitLevel
    day: dt.date | None = None
    """Date as of which the idea is judged, as in the review of a method."""


class DimensionReview(Frozen):
    strengths: list[Claim] = Field(max_length=4, description="The most important first.")
    weaknesses: list[Claim] = Field(max_length=4, description="The most important first.")
    suggestions: list[Claim] = Field(max_length=4, description="The most important first.")
    rationale: Rationale
    certainty: GivenCertainty
    score: Rating
