"""How far ScholarEval looks. The defaults follow the paper where it gives a number."""

from typing import Literal

from pydantic import Field

from assayer.models import Frozen

__all__ = ["METHOD", "AdmissionThresholds", "ScholarEvalOptions", "ScholarEvalStep"]

METHOD = "scholareval"
ScholarEvalStep = Literal["reading", "comparison"]


class AdmissionThresholds(Frozen):
    """Least cosine of a paper with what it is held against, by how well the corpus covers the field.

    A corpus that does not cover the field still returns its nearest papers; they are prior work only if they
    are near in absolute terms. Where it covers the field at least in part, relevance is left to the judge.
    """

    good: float = -1.0
    partial: float = -1.0
    poor: float = 0.55


class ScholarEvalOptions(Frozen):
    without: tuple[ScholarEvalStep, ...] = ()
    """Steps that are left out, to measure what they are worth. Without the reading a method is reviewed by the bare
    abstracts of the papers that its search found; without the comparison, a dimension by those of all that were opened.
    Nothing is quoted then. Around the papers that touch the contribution (`neighbours`, `references`) is left out by a
    0 of its own."""
    methods: int = Field(default=8, ge=1)
    """Methods reviewed for soundness, the most important first."""
    snippets: int = Field(default=20, ge=1)
    """Passages per query of a method."""
    papers_per_method: int = Field(default=30, ge=1)
    """Candidates per method."""
    looked_at: int = Field(default=100, ge=0)
    """Candidates of all methods, and again of all dimensions, of which a first look is taken at the titles. 0: there is
    none, and whatever the search found is read."""
    opened: int = Field(default=24, ge=1)
    """Papers that a first look may let pass: read for soundness, compared for contribution."""
    evidence_chars: int = Field(default=5_000, ge=1)
    """Of one paper in a prompt: abstract, matching passages, then methods and results sections."""
    reading_batch: int = Field(default=8, ge=1)
    """Papers read in one call, for all methods."""
    reading_batch_chars: int = Field(default=16_000, ge=1)
    dimensions: int = Field(default=6, ge=1)
    hits: int = Field(default=20, ge=1)
    """Papers per query."""
    candidates: int = Field(default=100, ge=1)
    """Papers kept of all queries, and again of those around the ones that touch the contribution."""
    neighbours: int = Field(default=8, ge=0)
    references: int = Field(default=10, ge=0)
    compared: int = Field(default=24, ge=1)
    """Papers, before and again after augmentation; no more than were opened."""
    augmented: int = Field(default=60, ge=0)
    """Titles looked at of those around the papers that touch the contribution, the nearest first; 0: none."""
    comparison_batch: int = Field(default=8, ge=1)
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Longer ideas are cut in prompts, and the cut is reported."""
    admission: AdmissionThresholds = AdmissionThresholds()
