"""Options of the evidence report: limits for its search and its lists."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "check"


class CheckOptions(Frozen):
    parts: int = Field(default=8, ge=1)
    """Maximum number of parts of the plan used as queries; the parts nearest to the whole plan are used."""
    hits: int = Field(default=20, ge=1)
    """Number of papers per query."""
    snippets: int = Field(default=20, ge=1)
    """Number of passages per query."""
    opened: int = Field(default=24, ge=1)
    """Maximum number of papers read."""
    shown: int = Field(default=12, ge=1)
    """Maximum number of closest papers shown."""
    evidence_chars: int = Field(default=5_000, ge=1)
    """Maximum characters read of a paper: abstract, matching passages, then methods and results sections."""
    references: int = Field(default=40, ge=0)
    """Number of references followed from each of the closest papers."""
    listed: int = Field(default=8, ge=0)
    """Maximum length of each of the lists of limitations, comparisons and often-cited works."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine between a paper and the plan, applied only if the corpus does not cover the field: such a corpus
    still returns its nearest papers, however unrelated they are."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum characters of a plan that are used; longer plans are cut, and the cut is reported."""
