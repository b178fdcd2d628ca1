"""Review board in a report: its members, the evidence that each member could see, and their joint verdict."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field

from assayer.models.base import Frozen
from assayer_client.points import Point, Score
from assayer_client.resources import Absent, PaperId

Level = Annotated[int, Field(ge=1, le=10, strict=True)]
"""Familiarity level from 1 to 10. At level 10 a reviewer sees all relevant evidence. Lower levels hide a share of it:
level 8 hides a fifth."""


class Familiarity(Frozen):
    """A reviewer's familiarity with several kinds of knowledge. It decides which evidence the reviewer sees."""

    literature: Level
    """Familiarity with papers: decides how many of the papers that were found the reviewer sees."""
    methods: Level
    """Familiarity with theory and methodology. It affects only the wording of the prompt."""
    applications: Level
    """Familiarity with building and running systems: decides how many repositories the reviewer sees."""
    frontier: Level
    """Familiarity with current discussions and releases: decides how many web pages the reviewer sees."""


class Masking(Frozen):
    """Evidence of one kind that was hidden from one reviewer."""

    kind: Literal["literature", "web", "code", "data"]
    level: Level
    shown_count: int
    hidden_papers: tuple[PaperId, ...]


class Reviewer(Frozen):
    key: str
    """Key of the reviewer, such as `R1`. Every judged part lists its assessments in the order of the reviewers."""
    persona: str | None
    """Name of the persona in the pool; None for the control reviewer, which has no persona and sees everything."""
    seat: Literal["near", "open", "control"]
    """Origin of the reviewer. `near`: from personas whose topics the idea mentions. `open`: from all
    others. `control`: without a persona."""
    field: str = ""
    role: str = ""
    background: str = ""
    goal: str = ""
    constraints: str = ""
    familiarity: Familiarity | None = None
    model: str | None = None
    """Model that answered for this seat; None means the default model."""
    masking: tuple[Masking, ...] = ()

    @property
    def name(self) -> str:
        return self.persona or "No persona"


class JudgedDimension(Frozen):
    """Dimension that the board judged. The report part with the same name contains the reviews."""

    name: str
    title: str
    question: str
    sha256: str
    """SHA-256 of the dimension's complete definition, including rubric, guidance, evidence and scale."""
    weight: float
    scale_min: float
    scale_max: float
    masked: bool = True
    """True if each reviewer saw only evidence that they are familiar with; false if all reviewers saw all evidence."""
    sections: tuple[str, ...] | None
    """Headings of the sections that the dimension was judged on; None if it was judged on the whole idea."""


class PoolUsed(Frozen):
    name: str
    sha256: str
    personas: int


class ScoreInterval(Frozen):
    """Interval in which the final score would lie if other reviewers were drawn from the same pool. It does not show
    whether the reviewers are right."""

    low: float
    high: float
    level: float = 0.9
    basis: str


class Agreement(Frozen):
    """Krippendorff's α over reviewers and dimensions. 1 is full agreement, 0 is chance level, below 0 is systematic
    disagreement."""

    alpha: float
    reviewers: int
    dimensions: int
    basis: str


class Decision(Frozen):
    """Decision that papers with a similar score received, by thresholds fitted on papers whose decisions are known."""

    name: str
    stability: float
    """Share of refits on resampled papers that reach the same decision, from 0 to 1."""
    calibration: str
    """Name of the calibration."""
    calibration_date: dt.date
    provenance: str
    outcomes: tuple[str, ...]
    """Outcomes, from worst to best."""
    thresholds: tuple[float, ...]
    """Minimum final score for each outcome except the worst, in the order of `outcomes`."""


class Dispute(Frozen):
    """Disagreement between reviewers, and which side the evidence supports."""

    dimension: str
    """Title of the dimension."""
    positions: str
    evidence_assessment: str


class MetaReview(Frozen):
    text: str
    disputes: tuple[Dispute, ...]


class BoardRecord(Frozen):
    """Everything about the board except its reviews, which are in the report's parts. It suffices to draw the same
    board again."""

    seed: int
    pool: PoolUsed | None
    """Pool from which the reviewers were drawn; None for the control without personas."""
    reviewers: tuple[Reviewer, ...]
    dimensions: tuple[JudgedDimension, ...]
    prompt_version: int
    """Version of the review prompt."""
    prompt_digest: str
    """Digest of the review prompt and every file that it includes."""
    models: tuple[str, ...]
    """Models that answered as reviewers."""
    score: Score | Absent
    """Final score from 0 to 10: the weighted mean of the dimensions' scores, each the mean over reviewers, scaled to 0
    to 10."""
    interval: ScoreInterval | Absent
    agreement: Agreement | Absent
    decision: Decision | Absent
    meta_review: MetaReview | Absent
    advice: tuple[Point, ...] | Absent
    """Revision advice from work published after the cutoff, which no reviewer saw."""
