"""Question and answer schemas for the review's tasks.

Schemas contain only plain types, enumerations and list lengths, which every dialect of structured output accepts; the
tasks check labels."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.evidence import Evidence
from assayer.criteria.part import ShownCriterion
from assayer.methods.scholareval.schemas import TitleShown
from assayer.models import (
    Axis,
    EvidenceRelation,
    FindingKind,
    FindingSeverity,
    FitLevel,
    Frozen,
    NamedRole,
    PaperId,
    ScoreCertainty,
)

Query = Annotated[str, Field(description="2 to 8 words. No operators, no quotation marks, no years."), TextRole.QUERY]
PlanWords = Annotated[
    str,
    Field(description="A line, formula or 4 to 30 consecutive words of the plan, copied exactly; empty if none bear."),
    TextRole.COPIED,
]
PaperWords = Annotated[str, TextRole.COPIED]
PaperLabel = Annotated[str, Field(description="Label of one of the papers, e.g. P3."), TextRole.LABEL]
PointLabel = Annotated[str, Field(description="Label of one of the points, e.g. Q4."), TextRole.LABEL]
PointLabels = Annotated[list[PointLabel], Field(description="Labels of the panel's points, e.g. Q4; may be empty.")]
EvidenceLabel = Annotated[str, Field(description="Label of one of the passages, e.g. E2."), TextRole.LABEL]
NameLabel = Annotated[str, Field(description="Label of a work named from memory, e.g. N1."), TextRole.LABEL]
WorkLabel = Annotated[str, Field(description="Label of a passage or of a work from memory, e.g. E2."), TextRole.LABEL]
Subject = Literal["same", "related", "off"]
"""A paper's relation to the plan's subject:
- `same`: on the same subject.
- `related`: on a related subject whose results a specialist would accept as evidence about it.
- `off`: on another subject."""


class RefereeQuestion(Frozen):
    idea: str
    most: int
    """Maximum number of points."""
    most_named: int
    """Maximum number of works named from memory."""
    day: dt.date | None
    """Latest publication date of literature that counts, or None."""


class RefereePoint(Frozen):
    quote: PlanWords
    kind: FindingKind
    claim: str = Field(description="At most 50 words: the point about this plan.")
    why: str = Field(description="At most 60 words: the reason, argued.")
    fix: str = Field(description="At most 40 words: what to do, with names and numbers; empty if it is a strength.")
    severity: FindingSeverity
    query: Query | None = Field(description="Search whose results could confirm or refute the point; null for none.")


class NoveltyClaim(Frozen):
    claim: Annotated[str, TextRole.RESTATES] = Field(
        description="At most 35 words, readable without the plan: what the plan says or implies is new."
    )
    query: Query


class PriorWork(Frozen):
    """Work that a referee names from memory."""

    title: Annotated[str, TextRole.NAMED] = Field(description="Title of the work, as exactly as you remember it.")
    first_author: Annotated[str, TextRole.NAMED] = Field(description="Family name; empty if you are not sure.")
    year: int | None = Field(description="Year of publication; null if you are not sure.")
    why: str = Field(description="10 to 28 words, a verb first: what it did and found. No name, no year.")
    role: NamedRole


class RefereeAnswer(Frozen):
    overview: str = Field(description="At most 150 words of thinking, before the points.")
    points: list[RefereePoint] = Field(max_length=16, description="The weightiest first.")
    prior_work: list[PriorWork] = Field(max_length=8, description="The most decisive first; may be empty.")
    novelty: list[NoveltyClaim] = Field(max_length=3, description="The most central first; may be empty.")


class WalkthroughQuestion(Frozen):
    idea: str
    least: int
    """Minimum number of points; with fewer, the plan was hardly gone through."""
    most: int
    """Maximum number of points."""


class WalkthroughPoint(Frozen):
    quote: PlanWords
    kind: FindingKind
    text: str = Field(description="12 to 30 words: one point about this plan, with its reason.")
    query: Query | None = Field(description="Search whose results could confirm or refute the point; usually null.")


class WalkthroughAnswer(Frozen):
    points: list[WalkthroughPoint] = Field(description="In the order of the plan.")


class PlanScoringQuestion(Frozen):
    idea: str


class PlanScore(Frozen):
    thoughts: str = Field(description="At most 60 words of thinking, before the score.")
    limited_by: str = Field(description="At most 28 words: what keeps the score from being higher.")
    beats: Annotated[int, Field(ge=0, le=20)] = Field(description="How many of twenty plans of its field it beats.")
    score: Annotated[int, Field(ge=10, le=100)] | None = Field(description="By the scale; null if one cannot tell.")


class PlanContribution(PlanScore):
    score: Annotated[int, Field(ge=50, le=100)] | None = Field(description="By the scale; null if one cannot tell.")


class PlanScores(Frozen):
    soundness: PlanScore
    contribution: PlanContribution


class SearchedPoint(Frozen):
    """A point or novelty claim, as shown when titles are screened and papers are read."""

    label: str
    text: str
    is_novelty: bool = False


class LookQuestion(Frozen):
    opening: str
    """Beginning of the plan, for orientation."""
    points: tuple[SearchedPoint, ...]
    shown: tuple[TitleShown, ...]
    most: int


class LookAnswer(Frozen):
    labels: list[PaperLabel] = Field(description="Labels of papers worth reading, e.g. P3, the most telling first.")


class PassageQuestion(Frozen):
    opening: str
    """Beginning of the plan, for orientation."""
    points: tuple[SearchedPoint, ...]
    evidence: tuple[Evidence, ...]


class ReadingNote(Frozen):
    point: PointLabel
    quote_done: PaperWords = Field(
        description="5 to 35 words copied exactly from this paper: what was done or made; may be empty."
    )
    quote_found: PaperWords = Field(description="5 to 35 words copied exactly: what came out; empty if it says none.")
    quote_under: PaperWords = Field(description="5 to 35 words copied exactly: under which conditions; may be empty.")
    shows: str = Field(
        description="At most 14 words: what these quotes show, beginning with a verb. Without any citation."
    )
    relation: EvidenceRelation


class PaperNotes(Frozen):
    label: PaperLabel
    subject: Subject
    notes: list[ReadingNote] = Field(max_length=3, description="Empty if it is off the subject or bears on no point.")


class ReadingAnswer(Frozen):
    papers: list[PaperNotes] = Field(description="One entry for each paper, in order.")


class PanelPoint(Frozen):
    """A referee's point, as shown to the editor model."""

    label: str
    referee: str
    kind: FindingKind
    severity: FindingSeverity | None
    """Severity; None for sentence-by-sentence points, which have none."""
    claim: str
    why: str
    fix: str
    quoted: bool
    """Whether the words quoted for the point were found in the plan."""


class NotedPassage(Frozen):
    """Evidence from a paper's passage, as shown to the editor model."""

    label: str
    title: str
    year: int | None
    relation: EvidenceRelation
    points: tuple[str, ...]
    """Labels of the points for which the passage was read."""
    shows: str


class RecalledWork(Frozen):
    """A work that a referee model named from memory, in the form shown to the editor model."""

    label: str
    title: str
    author: str
    year: int | None
    role: NamedRole
    why: str
    record: PaperId | None
    """Id of the paper record found for the work; None if there is none."""
    looked_up: bool
    """Whether every source that could search for the work responded."""

    @property
    def has_record(self) -> bool:
        return self.record is not None


class EditorQuestion(Frozen):
    idea: str
    words: int
    """Maximum number of words in the whole review."""
    overview: str
    """The first referee's reasoning before its points."""
    points: tuple[PanelPoint, ...]
    novelty: tuple[SearchedPoint, ...]
    passages: tuple[NotedPassage, ...]
    named: tuple[RecalledWork, ...]
    scores: PlanScores | None
    """Scores from the reader model, which sees only the plan; None if there are none."""
    fit: FitLevel
    day: dt.date | None
    criteria: tuple[ShownCriterion, ...] = ()
    """Criteria of the call for proposals."""


class EditedFinding(Frozen):
    labels: PointLabels
    axis: Axis
    severity: Literal["fatal", "major"] = Field(description='"major" for a strength.')
    quote: PlanWords
    lead: str = Field(description="At most 9 words: a headline that claims no more than the text.")
    text: str = Field(description="The finding with its reason. No citation; a work from memory as [N1].")
    fix: str = Field(description="One sentence: what to do, a verb first; empty if it is a strength.")
    cites: list[EvidenceLabel] = Field(
        max_length=2, description="Labels of passages that bear on it, e.g. E2; empty if none does."
    )
    named: list[NameLabel] = Field(
        max_length=2, description="Labels of works named from memory that it refers to, e.g. N1; may be empty."
    )


class FurtherPoint(Frozen):
    labels: PointLabels
    axis: Axis
    kind: Literal["weakness", "question"]
    text: str = Field(
        description="At most 28 words, with its reason or what to do. No citation; a work from memory as [N1]."
    )
    cites: list[EvidenceLabel] = Field(max_length=1, description="Label of a passage, e.g. E2; empty if none bears.")
    named: list[NameLabel] = Field(max_length=1, description="Label of a work from memory, e.g. N1; may be empty.")


class EditedParagraph(Frozen):
    """Paragraph of the review on the plan as a whole."""

    labels: PointLabels
    text: str = Field(description="At most 120 words. No citation; a work from memory as [N1].")
    cites: list[EvidenceLabel] = Field(
        max_length=4, description="Labels of passages that bear on it, e.g. E2; may be empty."
    )
    named: list[NameLabel] = Field(
        max_length=5, description="Labels of works named from memory that it refers to, e.g. N1; may be empty."
    )


class NearWork(Frozen):
    work: WorkLabel
    difference: str = Field(
        description="At most 18 words, a noun first: what the plan adds to it. No citation, no label."
    )


class EditedScore(Frozen):
    limited_by: str = Field(description="At most 28 words: the finding that keeps the score from being higher.")
    cites: list[EvidenceLabel] = Field(
        max_length=2, description="Labels of passages it rests on, e.g. E2; may be empty."
    )
    certainty_reason: str = Field(description="At most 14 words: what makes the score more or less certain.")
    certainty: ScoreCertainty
    score: Annotated[int, Field(ge=10, le=100)] | None = Field(
        description="10 to 100; null if the plan is too underspecified to tell."
    )


class EditedReview(Frozen):
    strengths: list[EditedFinding] = Field(max_length=5, description="The importance of the question first.")
    newness: EditedParagraph
    """The parts that earlier work has already, and what remains new."""
    outlook: EditedParagraph
    """The expected results, and whether the plan can be carried out."""
    major: list[EditedFinding] = Field(max_length=6, description="Weaknesses, the most harmful first.")
    redesign: EditedParagraph
    """A stronger study with about the same means."""
    further: list[FurtherPoint] = Field(max_length=15, description="The weightiest first.")
    closest: list[NearWork] = Field(max_length=4, description="Nearest earlier work, the nearest first; may be empty.")
    soundness: EditedScore
    contribution: EditedScore
    verdict: str = Field(description="Three sentences, at most 75 words. No citation; a work from memory as [N1].")
    dropped: PointLabels

    @property
    def paragraphs(self) -> tuple[EditedParagraph, ...]:
        return (self.newness, self.outlook, self.redesign)


class EditedCriterion(Frozen):
    label: Annotated[str, Field(description="Label of the criterion, e.g. C1."), TextRole.LABEL]
    answer: Annotated[str, TextRole.RESTATES] = Field(
        description="At most 45 words: what the plan offers for the question, and what not. No citation, no label."
    )
    limited_by: str = Field(
        description="At most 28 words: the finding that keeps the score from being higher; empty if the score is 10."
    )
    cites: list[EvidenceLabel] = Field(
        max_length=2, description="Labels of passages it rests on, e.g. E2; may be empty."
    )
    certainty: ScoreCertainty
    score: Annotated[int, Field(ge=1, le=10)] | None = Field(
        description="1 to 10 by the anchors; null if the plan says nothing of it."
    )


class EditedReviewByCriteria(EditedReview):
    criteria: list[EditedCriterion] = Field(description="One entry for each of the call's criteria, in order.")
