"""How papers are curated and candidates made. The source leaves all of these numbers open but one: ten candidates."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from assayer.models import Frozen
from assayer.models.curation import PaperKind

__all__ = ["BestBy", "CandidateTier", "CurationOptions", "LeakageLimits"]

BestBy = Literal["comparisons", "scores"]
CandidateTier = Literal["fast", "strong"]


class LeakageLimits(Frozen):
    """From where on a question gives its paper's method away."""

    share: float = Field(default=0.35, gt=0, le=1)
    """Of the question's words of content, so many or more that only the method has."""
    run: int = Field(default=4, ge=2)
    """So many words or more in a row of the method's own."""


class CurationOptions(Frozen):
    question_kinds: tuple[PaperKind, ...] = Field(default=("new_idea",), min_length=1)
    """Kinds of papers that a question is derived from: only a new idea has a method to be found again."""
    question_attempts: int = Field(default=2, ge=1, le=5)
    """Times a question is asked for, while the ones before give the method away."""
    leakage: LeakageLimits = LeakageLimits()
    abstract_chars: int = Field(default=6_000, ge=500)
    """Of an abstract in a prompt; a longer one is refused."""
    candidates: int = Field(default=10, ge=1, le=100)
    candidate_tier: CandidateTier = "strong"
    temperature: float = Field(default=0.8, gt=0, le=2)
    """At which candidates are drawn: at 0 they would all be one."""
    calls_per_candidate: float = Field(default=3.0, gt=0)
    """Comparisons asked over candidates, where the best is found by comparisons."""
    score_dimensions: Path | None = None
    """A file of dimensions in place of novelty, feasibility and effectiveness."""
    idea_chars: int = Field(default=12_000, ge=500)
    """Of each idea in a prompt that scores it."""
    seed: int = 0
    """Of the order in which candidates are shown and of ties between them."""
