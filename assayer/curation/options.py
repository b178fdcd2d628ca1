"""Options for curating papers and generating candidates. The debate-as-reward paper specifies only one of these
numbers: ten candidates."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from assayer.models import Frozen
from assayer_client.curation import PaperKind

CandidateTier = Literal["fast", "strong"]


class LeakageLimits(Frozen):
    """Thresholds at which a question counts as revealing its paper's method."""

    share: float = Field(default=0.35, gt=0, le=1)
    """Minimum share of the question's content words that occur only in the method."""
    run: int = Field(default=4, ge=2)
    """Minimum number of consecutive words shared with the method."""


class CurationOptions(Frozen):
    question_kinds: tuple[PaperKind, ...] = Field(default=("new_idea",), min_length=1)
    """Kinds of papers from which questions are derived. Only a paper with a new idea has a method that can be
    rediscovered."""
    question_attempts: int = Field(default=2, ge=1, le=5)
    """Maximum number of requests for a question. The request is repeated while the questions reveal the method."""
    leakage: LeakageLimits = LeakageLimits()
    abstract_chars: int = Field(default=6_000, ge=500)
    """Maximum number of characters in an abstract; a longer one is rejected."""
    candidates: int = Field(default=10, ge=1, le=100)
    candidate_tier: CandidateTier = "strong"
    temperature: float = Field(default=0.8, gt=0, le=2)
    """Sampling temperature for candidates. At 0, all candidates would be identical."""
    comparisons_per_candidate: float = Field(default=3.0, gt=0)
    """Number of comparisons per candidate, if the best one is chosen by comparisons."""
    score_dimensions: Path | None = None
    """File of dimensions to use instead of novelty, feasibility and effectiveness."""
    idea_chars: int = Field(default=12_000, ge=500)
    """Maximum number of an idea's characters in a scoring prompt."""
    seed: int = 0
    """Seed for the order in which candidates are shown and ties are broken."""
