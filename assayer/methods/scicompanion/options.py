"""How far SciCompanion looks. T = 3 steps is the paper's; the rest is ours (docs/quality/scicompanion.md)."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Frozen

__all__ = ["METHOD", "LoopPart", "SciCompanionOptions"]

METHOD = "scicompanion"
LoopPart = Literal["graph", "completion", "notebook"]


class SciCompanionOptions(Frozen):
    steps: int = Field(default=3, ge=1, le=6)
    """Of search, merging, editing and thinking."""
    asked: Literal["together", "apart"] = "together"
    """Whether one call a step gives edits, trace and next queries, or one call each, as the paper has it."""
    without: tuple[LoopPart, ...] = ()
    """Parts of the loop that are left out, to measure what they are worth. Without the graph papers are found by
    likeness to the queries alone, and nothing joins them; there is nothing to complete then. What is left is asked for
    in calls of its own, whatever `asked` says."""
    queries: int = Field(default=6, ge=1, le=12)
    """Of one step, at most."""
    hops: int = Field(default=2, ge=0, le=4)
    """Along citations, from the papers nearest to the queries."""
    seeds: int = Field(default=100, ge=1, le=500)
    """Papers a query from which a walk along citations starts."""
    found: int = Field(default=100, ge=1, le=500)
    """Papers that one walk brings up, at most."""
    papers_a_step: int = Field(default=12, ge=1, le=40)
    """The best of them that come into the graph."""
    names: int = Field(default=8, ge=0, le=100)
    """Methods and concepts of the corpus's own graph that come into the graph in one step: those that papers share."""
    claims: int = Field(default=4, ge=0, le=100)
    """Of new papers, likewise; one a paper."""
    edits: int = Field(default=24, ge=0, le=60)
    """Additions and revisions proposed in one step, at most; further ones are refused. Deletions are not counted."""
    nodes: int = Field(default=120, ge=2, le=500)
    edges: int = Field(default=300, ge=1, le=2_000)
    same_meaning: float = Field(default=0.92, ge=0, le=1)
    """Cosine from which two names of one kind are one node."""
    paper_chars: int = Field(default=900, ge=100)
    """Of one paper's abstract, as prompts show it."""
    recommended: int = Field(default=10, ge=0, le=100)
    """References that the report recommends, at most."""
    dimensions: Path | tuple[RubricDimension, ...] | None = None
    """A file of dimensions, or dimensions themselves, in place of feasibility, novelty, impact and overall."""
    idea_chars: int = Field(default=20_000, ge=1_000)
    """Longer ideas are cut, and the cut is reported."""

    def has(self, part: LoopPart) -> bool:
        return part not in self.without and not (part == "completion" and "graph" in self.without)
