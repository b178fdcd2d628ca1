"""Curation of papers: kind, derived research question, and how much of the method the question reveals. Also covers
candidate ideas for a question, and scores of ideas in single dimensions."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.models.base import Absent, Frozen
from assayer.models.blinding import Blinding
from assayer.models.idea import IdeaId, TextFlag

PaperKind = Literal["new_idea", "survey", "evaluation"]
PAPER_KINDS: tuple[PaperKind, ...] = ("new_idea", "survey", "evaluation")

Share = Annotated[float, Field(ge=0, le=1)]


class SourcePaper(Frozen):
    """Imported paper: sanitised title and abstract."""

    id: str
    title: str
    abstract: str
    source: str
    """Human-readable origin of the paper: `papers.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()


class LeakageMeasure(Frozen):
    """Measure of how much of the abstract's wording about its method a question repeats."""

    leaks: bool
    share: Share
    """Share of the question's content words that the abstract uses only for its method."""
    longest_run: int = Field(ge=0)
    """Longest run of consecutive words shared by the question and the abstract's method description. Runs that also
    occur elsewhere in the abstract do not count."""
    names: tuple[str, ...]
    """Names that the paper gives to what it introduces and that the question repeats."""
    repeated: tuple[str, ...]
    """Words counted in `share`, as written in the question."""
    method_found_by: Literal["wording", "place"]
    """Method by which the method sentences were identified. `wording`: a sentence says that something is proposed.
    `place`: no sentence does, so all sentences but the first count as the method."""


class CuratedPaper(Frozen):
    """Outcome of curating one paper."""

    id: str
    title: str
    kind: PaperKind | Absent
    kind_reason: str
    """Evidence in the title or abstract for the kind; if the kind is absent, the same text as its reason."""
    question: str | Absent
    leakage: LeakageMeasure | None
    """Leakage of the question, or of the last rejected question; None if no question was requested or returned."""
    attempts: int = Field(default=0, ge=0)
    """Number of questions requested."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious parts of the paper's text."""


class ResearchQuestion(Frozen):
    """Sanitised question for which candidates are proposed."""

    id: str
    text: str
    source: str
    """Human-readable origin of the question: `curated.jsonl:12`."""
    flags: tuple[TextFlag, ...] = ()


class Candidate(Frozen):
    """Candidate idea that a model proposed for a question. A line of JSON with a candidate can be read as an idea."""

    id: str
    """Human-readable id: the id of the question and the number of the candidate, such as `q7-3`."""
    question: str
    number: int = Field(ge=1)
    """Number of the candidate among those for its question."""
    title: str
    problem: str
    gap: str
    bridge: str
    text: str
    """The idea itself."""
    flags: tuple[TextFlag, ...] = ()
    place: Annotated[int, Field(ge=1)] | Absent | None = None
    """Rank among the candidates for its question, 1 being best; None if no ranking was requested."""


class MissingCandidate(Frozen):
    """Requested candidate that is missing."""

    number: int = Field(ge=1)
    reason: str
    same_as: int | None = None
    """Number of the candidate with identical wording; None if no usable answer was returned."""


class Proposal(Frozen):
    """Candidates for one question."""

    question: str
    candidates: tuple[Candidate, ...]
    """Candidates by rank if the best was requested, otherwise by number."""
    missing: tuple[MissingCandidate, ...] = ()
    """Missing candidates, in order of number."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious parts of the question's text."""


class DimensionScore(Frozen):
    """Score of an idea in one dimension, from one answer."""

    dimension: str
    score: float | Absent
    speaks_for: str = ""
    speaks_against: str = ""
    reason: str = ""


class IdeaScores(Frozen):
    """Scores of one idea in single dimensions."""

    id: IdeaId
    title: str
    source: str
    scores: tuple[DimensionScore, ...]
    """Scores in the order of the dimensions; all absent if the answer was lost."""
    mean: float | Absent
    """Mean of the scores, each scaled to 0 to 1; absent if any score is absent."""
    blinding: Blinding | None = None
    flags: tuple[TextFlag, ...] = ()
