"""Options of the evidence report: extent of its search and of its lists."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "check"


class CheckOptions(Frozen):
    parts: int = Field(default=8, ge=1)
    """Maximum parts of the plan used as queries: those nearest to the whole plan."""
    hits: int = Field(default=20, ge=1)
    """Papers per query."""
    snippets: int = Field(default=20, ge=1)
    """Passages per query."""
    opened: int = Field(default=24, ge=1)
    """Papers read, at most."""
    shown: int = Field(default=12, ge=1)
    """Closest papers shown, at most."""
    evidence_chars: int = Field(default=5_000, ge=1)
    """Maximum characters read of a paper: abstract, matching passages, then methods and results sections."""
    references: int = Field(default=40, ge=0)
    """References followed from each of the closest papers."""
    listed: int = Field(default=8, ge=0)
    """Maximum limitations, comparisons and often-cited works, each."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine between a paper and the plan if the corpus does not cover the field; such a corpus still
    returns its nearest papers."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum characters of a plan that are used; longer plans are cut, and the cut is reported."""
