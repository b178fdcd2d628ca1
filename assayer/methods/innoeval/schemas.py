"""Question and answer schemas for the InnoEval tasks: search and grounding, then reviews, meta-review and advice.

Prompt files render the questions. Answers are closed schemas that state the evidence before the verdict. Labels are
valid only within one prompt: `P3` is a source, `S2` a part of the idea, `Q5` a query that was tried, `D2` a dimension,
`R1` a reviewer, `W2` a weakness."""

import datetime as dt
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, create_model
from pydantic.json_schema import SkipJsonSchema

from assayer.citing.answer_texts import TextRole, compute_max_chars
from assayer.citing.evidence import Evidence
from assayer.citing.labels import find_labels
from assayer.methods.innoeval.dimensions import EvidenceKind, RubricDimension
from assayer.models import Certainty, FitLevel, Frozen, Reviewer

EvidenceLabel = Annotated[str, Field(pattern=r"^P\d+$", description="Label of one of the finds given, e.g. P3.")]
PartLabel = Annotated[str, Field(pattern=r"^S\d+$", description="Label of one of the parts given, e.g. S1.")]
PartText = Annotated[
    str, Field(max_length=1_500, description="15 to 80 words, readable without the idea."), TextRole.RESTATES
]
_PLAIN = "No operators, no quotation marks, no years."
PaperQueryText = Annotated[str, Field(description=f"3 to 10 words. {_PLAIN}"), TextRole.QUERY]
CodeQueryText = Annotated[str, Field(description=f"2 to 5 words. {_PLAIN}"), TextRole.QUERY]
_REFINED_WORDS = "2 to 5 words for code and data, 3 to 10 otherwise."
RefinedQueryText = Annotated[str, Field(description=f"{_REFINED_WORDS} {_PLAIN}"), TextRole.QUERY]
Restated = Annotated[str, TextRole.RESTATES]
Copied = Annotated[str, TextRole.COPIED]
TenPointRating = Annotated[int, Field(ge=0, le=10, description="0 to 10 by the rubric.")]


class EvidenceItem(Evidence):
    """A paper, page, repository or data set, as shown in a prompt."""

    kind: EvidenceKind
    standing: str = ""
    """The source's reception according to its record: venue, citations, site, stars."""


class LabelledPart(Frozen):
    """A part of the idea, with its label in one prompt."""

    label: str
    name: str
    text: str


class ExtractionQuestion(Frozen):
    idea: str


class Extraction(Frozen):
    tldr: Restated | None = Field(
        description="The idea in one or two sentences, 20 to 60 words; null only if the text proposes nothing."
    )
    motivations: list[PartText] = Field(max_length=3, description="The strongest first; none that repeats the tldr.")
    research_questions: list[PartText] = Field(max_length=3, description="The most central first.")
    methods: list[PartText] = Field(max_length=5, description="The most important first.")
    settings: Restated | None = Field(
        description="What cuts across the methods: measures, baselines, data, resources; 20 to 120 words; "
        "null if the text is silent."
    )
    results: Restated | None = Field(
        description="What is expected, claimed or aimed at; 10 to 80 words; null if the text is silent."
    )


class SearchQueriesQuestion(Frozen):
    digest: str
    parts: tuple[LabelledPart, ...]
    kinds: tuple[EvidenceKind, ...]


class PartQueries(Frozen):
    part: PartLabel
    literature: list[PaperQueryText] = Field(min_length=1, max_length=3, description="For a search of papers.")
    web: list[PaperQueryText] = Field(max_length=2, description="For a web search.")
    code: list[CodeQueryText] = Field(max_length=2, description="For a search of repositories of code.")
    data: list[CodeQueryText] = Field(max_length=2, description="For a search of data sets.")


class SearchQueries(Frozen):
    queries: list[PartQueries] = Field(description="One entry for each part given, in order.")


@cache
def build_queries_schema(kinds: tuple[EvidenceKind, ...]) -> type[SearchQueries]:
    """Return the answer schema without queries for kinds of sources that are not searched."""
    kinds_off = [kind for kind in ("web", "code", "data") if kind not in kinds]
    fields: dict[str, Any] = dict.fromkeys(kinds_off, (SkipJsonSchema[list[str]], Field(default=[], max_length=0)))
    part = create_model("PartQueries", __base__=PartQueries, **fields)
    field = Field(description="One entry for each part given, in order.")
    return create_model("SearchQueries", __base__=SearchQueries, queries=(list[part], field))  # type: ignore[valid-type]


class EvidenceRelevanceQuestion(Frozen):
    digest: str
    kind: EvidenceKind
    evidence: tuple[EvidenceItem, ...]


class EvidenceRelevance(Frozen):
    label: EvidenceLabel
    reason: str = Field(description="At most 40 words: what ties it to the idea, and what it can be trusted for.")
    relevance: TenPointRating
    quality: TenPointRating | None = Field(description="0 to 10 by the rubric; null where relevance is below 3.")


class EvidenceRelevances(Frozen):
    judgements: list[EvidenceRelevance] = Field(description="One for each find given, in order.")


class SourceQuery(NamedTuple):
    part: str
    kind: EvidenceKind
    text: str


class TriedQueryResult(Frozen):
    title: str
    worth_reading: bool


class TriedQuery(Frozen):
    """A query that was tried, and what it found."""

    label: str
    kind: EvidenceKind
    part: str
    query: str
    found: int
    relevant: int
    finds: tuple[TriedQueryResult, ...]
    """The query's most relevant results."""


class RefinementQuestion(Frozen):
    digest: str
    tried: tuple[TriedQuery, ...]
    earlier: tuple[SourceQuery, ...] = ()
    limit: int


class RefinedQuery(Frozen):
    tried: str = Field(pattern=r"^Q\d+$", description="Label of the query that this one comes from, e.g. Q2.")
    problem: str = Field(description="At most 20 words: what its finds show to be wrong with it, or left open by it.")
    change: Literal["rewrite", "generalise", "narrow", "extend"]
    query: RefinedQueryText


class Refinement(Frozen):
    queries: list[RefinedQuery]


@cache
def build_refinement_schema(limit: int) -> type[Refinement]:
    """Return the answer schema with at most `limit` queries."""
    field = Field(
        max_length=limit, description="The most promising first; an empty list if no query needs another try."
    )
    return create_model("Refinement", __base__=Refinement, queries=(list[RefinedQuery], field))


class GroundingQuestion(Frozen):
    digest: str
    parts: tuple[LabelledPart, ...]
    evidence: tuple[EvidenceItem, ...]


class GroundedPart(Frozen):
    part: PartLabel
    quote: Copied = Field(description="8 to 40 consecutive words copied exactly from this find's text.")
    analysis: str = Field(
        description="At most 50 words: what the quote shows, and why it makes this part more or less convincing. "
        "No labels."
    )
    stance: Literal["supports", "contradicts"]


class GroundedFind(Frozen):
    label: EvidenceLabel
    groundings: list[GroundedPart] = Field(
        max_length=3, description="The most telling first; an empty list if the find speaks to no part."
    )


class Groundings(Frozen):
    finds: list[GroundedFind] = Field(description="One entry for each find given, in order.")


class ReviewClaim(Frozen):
    text: Annotated[str, TextRole.CITES] = Field(
        max_length=compute_max_chars(50),
        description="At most 50 words; cites finds, if any, by label in square brackets. No links.",
    )


class GroundingNote(Frozen):
    """A note on how one source bears on one part of the idea, written when all sources were grounded."""

    label: str
    """Label of the source."""
    part: str
    stance: Literal["supports", "contradicts"]
    analysis: str
    quote: str
    """Quote from the source, or an empty string if no quote could be verified."""


class ShownSection(Frozen):
    """A section of a long proposal, with the titles of the dimensions for which it was chosen."""

    title: str
    text: str
    """The part of its text that is shown; empty if there was no room for it."""
    dimensions: tuple[str, ...]


class JudgingQuestion(Frozen):
    digest: str
    idea: str
    """The idea's text; empty if the idea is read by section."""
    sections: tuple[ShownSection, ...]
    evidence: tuple[EvidenceItem, ...]
    """Sources that count for at least one dimension."""
    unfamiliar: tuple[str, ...]
    """Labels of sources that this reviewer would not know; they count only for dimensions that are not masked."""
    notes: tuple[GroundingNote, ...]
    fit: FitLevel
    day: dt.date | None
    """Latest date on which evidence was published; None if there is no cutoff."""
    reviewer: Reviewer
    dimensions: tuple[RubricDimension, ...]

    def list_labels(self, dimension: RubricDimension) -> frozenset[str]:
        """Return the labels of the sources that count for a dimension."""
        hidden_labels = self.unfamiliar if dimension.masked else ()
        return frozenset(
            item.label for item in self.evidence if item.kind in dimension.evidence and item.label not in hidden_labels
        )


class Judgement(Frozen):
    """A reviewer's review of an idea in one respect."""

    strengths: list[ReviewClaim] = Field(max_length=3, description="The weightiest first; may be empty.")
    weaknesses: list[ReviewClaim] = Field(max_length=3, description="The weightiest first; may be empty.")
    suggestions: list[ReviewClaim] = Field(max_length=1, description="The one change that would raise this score most.")
    rationale: str = Field(
        max_length=compute_max_chars(100),
        description="One to three sentences: the band, and the facts that keep the idea from the next higher and the "
        "next lower. No labels.",
    )
    score: float | None

    @property
    def claims(self) -> list[ReviewClaim]:
        return [*self.strengths, *self.weaknesses, *self.suggestions]

    def keep_points_citing(self, labels: frozenset[str]) -> Self:
        """Return the review without the points that cite other labels."""
        kept_claims = {
            name: [claim for claim in getattr(self, name) if labels.issuperset(find_labels(claim.text))]
            for name in ("strengths", "weaknesses", "suggestions")
        }
        return self.model_copy(update=kept_claims)


@cache
def build_judgement_schema(scores: tuple[float, ...]) -> type[Judgement]:
    """Return the answer schema with the score restricted to those in a rubric."""

    def check_listed(score: float) -> float:
        if score not in scores:
            raise ValueError(
                f"This rubric has no score {score:g}. Choose one of {', '.join(f'{item:g}' for item in scores)}."
            )
        return score

    values = [int(item) if item.is_integer() else item for item in map(float, scores)]
    rating = Annotated[float, AfterValidator(check_listed), Field(json_schema_extra={"enum": values})] | None
    description = "One of the rubric's scores; null only if nothing given lets anyone judge."
    return create_model("Judgement", __base__=Judgement, score=(rating, Field(description=description)))


class Judgements(Frozen):
    """A reviewer's reviews of an idea: one field for each dimension, named after it."""

    def get_judgement(self, dimension: RubricDimension) -> Judgement:
        judgement: Judgement = getattr(self, dimension.name)
        return judgement


@cache
def build_judgements_schema(dimensions: tuple[RubricDimension, ...]) -> type[Judgements]:
    """Return the answer schema with one review per dimension, in order, each with its own allowed scores."""
    fields: dict[str, Any] = {item.name: (build_judgement_schema(item.scores), ...) for item in dimensions}
    return create_model("Judgements", __base__=Judgements, **fields)


class ReviewTexts(Frozen):
    """A review, as shown to the model that writes the meta-review; texts carry the labels of its prompt."""

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
    reviews: tuple[ReviewTexts, ...]


class PlanDoubt(Frozen):
    """A doubt from reading the plan alone, as shown to the model that writes the meta-review."""

    text: str
    certainty: Certainty
    quote: str
    """Words quoted from the plan; empty if they were not found there."""


class MetaQuestion(Frozen):
    digest: str
    evidence: tuple[EvidenceItem, ...]
    """Sources cited by the reviewers, each with a single statement of what it shows."""
    reviewers: tuple[Reviewer, ...]
    dimensions: tuple[DimensionReviews, ...]
    unmasked: tuple[str, ...] = ()
    """Titles of the dimensions in which no evidence was hidden from any reviewer."""
    doubts: tuple[PlanDoubt, ...] = ()


class WeighedDispute(Frozen):
    dimension: str = Field(pattern=r"^D\d+$", description="Label of one of the dimensions given, e.g. D1.")
    positions: str = Field(
        max_length=compute_max_chars(50), description="At most 50 words: who holds what, e.g. R2, and on which ground."
    )
    weighing: str = Field(
        max_length=compute_max_chars(40),
        description="At most 40 words: which ground weighs more, or what would settle it.",
    )


class Synthesis(Frozen):
    disputes: list[WeighedDispute] = Field(max_length=3, description="The most consequential first; may be empty.")
    strengths: list[ReviewClaim] = Field(max_length=3, description="The weightiest first.")
    weaknesses: list[ReviewClaim] = Field(max_length=3, description="The weightiest first.")
    suggestions: list[ReviewClaim] = Field(max_length=3, description="What would change most for the least work first.")
    assessment: str = Field(
        max_length=compute_max_chars(180),
        description="At most 180 words for a reader who reads nothing else. No labels, scores or recommendation.",
    )


class Weakness(Frozen):
    label: str
    dimension: str
    text: str


class AdviceQuestion(Frozen):
    digest: str
    idea: str
    day: dt.date
    """Date as of which the idea is judged."""
    weaknesses: tuple[Weakness, ...]
    evidence: tuple[EvidenceItem, ...]


class LaterStep(Frozen):
    label: EvidenceLabel
    quote: Copied = Field(description="8 to 40 consecutive words copied exactly from this find's text.")
    shows: str = Field(
        max_length=compute_max_chars(30),
        description="At most 30 words: what this later work found or built that bears on the idea.",
    )
    weakness: Annotated[str, Field(pattern=r"^W\d+$")] | None = Field(
        description="Label of the weakness that the change would lessen, e.g. W1; null if it lessens none of them."
    )
    change: str = Field(
        max_length=compute_max_chars(50),
        description="At most 50 words: what to change in the plan, how, and what that would gain.",
    )


class Advice(Frozen):
    steps: list[LaterStep] = Field(max_length=5, description="The most useful first; may be empty.")
