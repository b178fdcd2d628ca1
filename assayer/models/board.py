"""The review board behind a report: who sat on it, what each could see, and what they made of the idea together."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field

from assayer.models.assessment import Point, Score
from assayer.models.base import Absent, Frozen
from assayer.models.paper import PaperId

__all__ = [
    "Agreement",
    "BoardRecord",
    "Decision",
    "Dispute",
    "Familiarity",
    "JudgedDimension",
    "Level",
    "Masking",
    "MetaReview",
    "PoolUsed",
    "Reviewer",
    "ScoreInterval",
]

Level = Annotated[int, Field(ge=1, le=10, strict=True)]
"""10 knows everything that bears on the topic; a level hides the rest: 8 hides a fifth."""


class Familiarity(Frozen):
    """Of a reviewer, by what it lets them see."""

    literature: Level
    """With papers: decides how many of the papers found stay visible."""
    methods: Level
    """With theory and methodology: in the prompt's words only."""
    applications: Level
    """With building and running things: decides about repositories."""
    frontier: Level
    """With what is discussed and released now: decides about web pages."""


class Masking(Frozen):
    """What one reviewer did not see of one kind of knowledge."""

    kind: Literal["literature", "web", "code", "data"]
    level: Level
    shown: int
    hidden: tuple[PaperId, ...]


class Reviewer(Frozen):
    key: str
    """`R1`; the assessments of every judged part stand in the order of the reviewers."""
    persona: str | None
    """Its name in the pool; None for the control, which is nobody in particular and sees everything."""
    seat: Literal["near", "open", "control"]
    """`near` was drawn among those whose topics the idea names, `open` among all others."""
    field: str = ""
    role: str = ""
    background: str = ""
    goal: str = ""
    constraints: str = ""
    familiarity: Familiarity | None = None
    model: str | None = None
    """That was asked to answer from this seat; None for the one that answers everything else."""
    masking: tuple[Masking, ...] = ()

    @property
    def name(self) -> str:
        return self.persona or "No persona"


class JudgedDimension(Frozen):
    """A dimension as it was judged; its reviews are the part of the report with the same name."""

    name: str
    title: str
    question: str
    sha256: str
    """Of its definition: rubric, guidance, evidence, scale and all."""
    weight: float
    scale_min: float
    scale_max: float
    masked: bool = True
    """Whether what reviewers are not familiar with was hidden from them; if not, each saw all that was found."""
    sections: tuple[str, ...] | None
    """Headings of the sections that it was judged on; None when it was judged on the whole idea."""


class PoolUsed(Frozen):
    name: str
    sha256: str
    personas: int


class ScoreInterval(Frozen):
    """Where the final score would lie with other reviewers of the same pool; says nothing about whether they are
    right."""

    low: float
    high: float
    level: float = 0.9
    basis: str


class Agreement(Frozen):
    """Krippendorff's α over reviewers and dimensions: 1 full agreement, 0 what chance gives, below 0 systematic
    disagreement."""

    alpha: float
    reviewers: int
    dimensions: int
    basis: str


class Decision(Frozen):
    """What papers with such scores became, by thresholds that were fitted on some whose decision is known."""

    name: str
    stability: float
    """Share of refits on resampled papers that come to the same decision, 0 to 1."""
    calibration: str
    """Its name."""
    made_on: dt.date
    provenance: str
    outcomes: tuple[str, ...]
    """From worst to best."""
    thresholds: tuple[float, ...]
    """Final scores from which the next better outcome is named."""


class Dispute(Frozen):
    """Where reviewers part, and which side what was found supports."""

    dimension: str
    """Title."""
    positions: str
    weighing: str


class MetaReview(Frozen):
    text: str
    disputes: tuple[Dispute, ...]


class BoardRecord(Frozen):
    """Everything about the board that the reviews themselves do not say. Enough to draw the same one again."""

    seed: int
    pool: PoolUsed | None
    """None for the control without personas."""
    reviewers: tuple[Reviewer, ...]
    dimensions: tuple[JudgedDimension, ...]
    prompt_version: int
    """Of the prompt that asked for the reviews."""
    prompt_digest: str = ""
    """Of that prompt with everything it includes; empty in reports of before."""
    models: tuple[str, ...]
    """That answered as reviewers."""
    score: Score | Absent
    """0 to 10: the weighted mean over dimensions, each the mean of its reviewers, all brought to this scale."""
    interval: ScoreInterval | Absent
    agreement: Agreement | Absent
    decision: Decision | Absent
    meta_review: MetaReview | Absent
    advice: tuple[Point, ...] | Absent
    """On revision, from work published after the cutoff. No reviewer saw that work."""
