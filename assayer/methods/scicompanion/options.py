"""Options for SciCompanion, which limit the exploration. T = 3 steps is the paper's number; the other defaults are ours
(docs/evidence/scicompanion.md)."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions import RubricDimension, resolve_dimensions
from assayer.models import Frozen

METHOD = "scicompanion"
OVERALL = "overall"
"""Name of the dimension for the overall judgement."""


class SciCompanionOptions(Frozen):
    steps: int = Field(default=3, ge=1, le=6)
    """Number of steps, each with search, merging, editing and reasoning."""
    asked: Literal["together", "apart"] = "together"
    """Whether a step sends one LLM request for edits, trace and next queries together, or separate requests, as in the
    paper."""
    queries: int = Field(default=6, ge=1, le=12)
    """Maximum number of queries per step."""
    hops: int = Field(default=2, ge=0, le=4)
    """Maximum number of hops along citations, starting at the papers nearest to the queries."""
    seeds: int = Field(default=100, ge=1, le=500)
    """Number of papers per query from which citations are followed."""
    found: int = Field(default=100, ge=1, le=500)
    """Maximum number of papers found by following citations once."""
    papers_a_step: int = Field(default=12, ge=1, le=40)
    """Maximum number of papers added to the graph per step, best first."""
    names: int = Field(default=8, ge=0, le=100)
    """Maximum number of methods and concepts added from the corpus graph per step; only those shared by several papers
    are added."""
    claims: int = Field(default=4, ge=0, le=100)
    """Maximum number of claims added from the corpus graph per step, one per new paper."""
    edits: int = Field(default=24, ge=0, le=60)
    """Maximum number of additions and revisions per step; further ones are refused. Deletions do not count."""
    nodes: int = Field(default=120, ge=2, le=500)
    edges: int = Field(default=300, ge=1, le=2_000)
    same_meaning: float = Field(default=0.92, ge=0, le=1)
    """Minimum cosine similarity at which two names of the same kind are merged into one node."""
    paper_chars: int = Field(default=900, ge=100)
    """Maximum number of characters of an abstract shown in a prompt."""
    recommended: int = Field(default=10, ge=0, le=100)
    """Maximum number of references that the report recommends."""
    dimensions: Path | tuple[RubricDimension, ...] | None = None
    """Dimensions, or a file with them, to use instead of feasibility, novelty, impact and overall. One must be named
    `overall`: its score becomes the report's."""
    idea_chars: int = Field(default=20_000, ge=1_000)
    """Maximum number of an idea's characters in prompts. Longer ideas are cut, and the report says so."""

    def load_rubric(self) -> tuple[RubricDimension, ...]:
        """Return the dimensions. One of them is named `overall`: its score is the report's, and its points lead the
        report. Raises InputError if there is none, or if the file is invalid."""
        dimensions = resolve_dimensions(self.dimensions, "assayer.methods.scicompanion")
        if not any(dimension.name == OVERALL for dimension in dimensions):
            raise InputError(
                f"No dimension of SciCompanion is named {OVERALL!r}.",
                "Add one to the file: its score becomes the report's score.",
            )
        return dimensions
