"""Curation: what kind of paper one is, the research question derived from it, and how much of its method that tells;
candidate ideas for a question, and scores of ideas in single respects.
"""

from typing import Annotated, Literal

from pydantic import Field

from assayer.models.base import Absent, Frozen
from assayer.models.blinding import Blinding
from assayer.models.idea import IdeaId, TextFlag

__all__ = [
    "PAPER_KINDS",
    "Candidate",
    "CuratedPaper",
    "DimensionScore",
    "IdeaScores",
    "LeakageMeasure",
    "MissingCandidate",
    "PaperKind",
    "Proposal",
    "ResearchQuestion",
    "SourcePaper",
]

PaperKind = Literal["new_idea", "survey", "evaluation"]
PAPER_KINDS: tuple[PaperKind, ...] = ("new_idea", "survey", "evaluation")

Share = Annotated[float, Field(ge=0, le=1)]


class SourcePaper(Frozen):
    """A paper as it came in: sanitised title and abstract."""

    id: str
    title: str
    abstract: str
    source: str
    """Where it came from, for people: `papers.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()


class LeakageMeasure(Frozen):
    """How much of an abstract's wording of its method a question repeats."""

    leaks: bool
    share: Share
    """Of the question's words of content, those that the abstract uses for its method alone."""
    longest_run: int = Field(ge=0)
    """Most words in a row that also stand in a row in what the abstract says of its method, and nowhere else in it."""
    names: tuple[str, ...]
    """Names that the paper gives to what it introduces and that the question repeats."""
    repeated: tuple[str, ...]
    """The words counted in `share`, as the question has them."""
    method_found_by: Literal["wording", "place"]
    """`wording`: a sentence says that something is proposed. `place`: none does, and all but the first count as it."""


class CuratedPaper(Frozen):
    """What became of one paper."""

    id: str
    title: str
    kind: PaperKind | Absent
    kind_reason: str
    """What in title or abstract decides; of an absent kind, the same as there."""
    question: str | Absent
    leakage: LeakageMeasure | None
    """Of the question, or of the last one that was refused; None where none was asked for or none came."""
    attempts: int = Field(default=0, ge=0)
    """Questions that were asked for."""
    flags: tuple[TextFlag, ...] = ()
    """What is suspicious in its text."""


class ResearchQuestion(Frozen):
    """A question that candidates are proposed for: sanitised."""

    id: str
    text: str
    source: str
    """Where it came from, for people: `curated.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()


class Candidate(Frozen):
    """One of several ideas that a model proposed for a question. As a line of JSON it is read as an idea."""

    id: str
    """Of the question and the candidate's number, for people: `q7-3`."""
    question: str
    number: int = Field(ge=1)
    """Among the candidates for its question."""
    title: str
    problem: str
    gap: str
    bridge: str
    text: str
    """The idea itself."""
    flags: tuple[TextFlag, ...] = ()
    place: Annotated[int, Field(ge=1)] | Absent | None = None
    """1 is the best of its question's candidates; None where nobody asked for the best."""


class MissingCandidate(Frozen):
    """One that was asked for and is not there."""

    number: int = Field(ge=1)
    reason: str
    same_as: int | None = None
    """The candidate that says the same, word for word; None where no usable answer came."""


class Proposal(Frozen):
    """The candidates for one question."""

    question: str
    candidates: tuple[Candidate, ...]
    """By their places where the best was asked for, by their numbers otherwise."""
    missing: tuple[MissingCandidate, ...] = ()
    """By number."""
    flags: tuple[TextFlag, ...] = ()
    """What is suspicious in the question's text."""


class DimensionScore(Frozen):
    """What one answer gave an idea in one respect."""

    dimension: str
    score: float | Absent
    speaks_for: str = ""
    speaks_against: str = ""
    reason: str = ""


class IdeaScores(Frozen):
    """Single scores of one idea."""

    id: IdeaId
    title: str
    source: str
    scores: tuple[DimensionScore, ...]
    """In the order of the dimensions; all absent where the answer was lost."""
    mean: float | Absent
    """Of the scores, each brought to 0 to 1 on its scale; absent where one is."""
    blinding: Blinding | None = None
    flags: tuple[TextFlag, ...] = ()
