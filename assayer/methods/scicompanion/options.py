"""Options of SciCompanion, which limit the exploration. T = 3 steps is from the paper; the other defaults are our own
(docs/evidence/scicompanion.md)."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions import RubricDimension, resolve_dimensions
from assayer.models import Frozen

METHOD = "scicompanion"
OVERALL = "overall"
"""Name of the dimension that is the overall judgement."""


class SciCompanionOptions(Frozen):
    steps: int = Field(default=3, ge=1, le=6)
    """Number of steps of search, merging, editing and reasoning."""
    asked: Literal["together", "apart"] = "together"
    """Mode of the LLM calls in a step: a single call for edits, trace and next queries together, or separate calls, as
    in the paper."""
    queries: int = Field(default=6, ge=1, le=12)
    """Maximum queries of one step."""
    hops: int = Field(default=2, ge=0, le=4)
    """Maximum hops along citations, from the papers nearest to the queries."""
    seeds: int = Field(default=100, ge=1, le=500)
    """Number of papers per query from which a traversal of citations starts."""
    found: int = Field(default=100, ge=1, le=500)
    """Maximum papers found by one traversal."""
    papers_a_step: int = Field(default=12, ge=1, le=40)
    """Maximum papers added to the graph per step, best first."""
    names: int = Field(default=8, ge=0, le=100)
    """Maximum methods and concepts from the corpus graph added in one step; only those shared by several papers are
    added."""
    claims: int = Field(default=4, ge=0, le=100)
    """Maximum claims added from the corpus graph in one step, one for each new paper."""
    edits: int = Field(default=24, ge=0, le=60)
    """Maximum additions and revisions proposed in one step; further ones are refused. Deletions are not counted."""
    nodes: int = Field(default=120, ge=2, le=500)
    edges: int = Field(default=300, ge=1, le=2_000)
    same_meaning: float = Field(default=0.92, ge=0, le=1)
    """Cosine similarity at or above which two names of the same kind are merged into one node."""
    paper_chars: int = Field(default=900, ge=100)
    """Maximum characters of one paper's abstract shown in a prompt."""
    recommended: int = Field(default=10, ge=0, le=100)
    """Maximum number of references that the report recommends."""
    dimensions: Path | tuple[RubricDimension, ...] | None = None
    """File of dimensions, or the dimensions themselves, replacing feasibility, novelty, impact and overall. One must be
    named `overall`: its score is the report's."""
    idea_chars: int = Field(default=20_000, ge=1_000)
    """Maximum characters of an idea; longer ideas are cut, and the report says so."""

    def rubric(self) -> tuple[RubricDimension, ...]:
        """Return the dimensions, one of which is named `overall`: its score is the report's, and its points lead the
        report. Raises InputError."""
        dimensions = resolve_dimensions(self.dimensions, "assayer.methods.scicompanion")
        if not any(dimension.name == OVERALL for dimension in dimensions):
            raise InputError(
                f"No dimension of SciCompanion is named {OVERALL!r}.",
                "Add one to the file: its score becomes the score of the report.",
            )
        return dimensions
