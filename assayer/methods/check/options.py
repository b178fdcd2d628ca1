"""Options for the evidence report: limits on its search and its lists."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "check"


class CheckOptions(Frozen):
    parts: int = Field(default=8, ge=1)
    """Maximum number of the plan's paragraphs used as queries; those nearest to the whole plan are chosen."""
    hits: int = Field(default=20, ge=1)
    """Number of papers retrieved per query."""
    snippets: int = Field(default=20, ge=1)
    """Number of passages retrieved per query."""
    opened: int = Field(default=24, ge=1)
    """Maximum number of papers read."""
    shown: int = Field(default=12, ge=1)
    """Maximum number of closest papers shown."""
    evidence_chars: int = Field(default=5_000, ge=1)
    """Maximum number of characters read per paper: abstract, matching passages, then methods and results sections."""
    references: int = Field(default=40, ge=0)
    """Maximum number of references considered for each of the closest papers."""
    listed: int = Field(default=8, ge=0)
    """Maximum length of each list: limitations, comparisons, and often-cited works."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine similarity between a paper and the plan, applied only if the corpus does not cover the field: such
    a corpus still returns its nearest papers, however unrelated they are."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum number of a plan's characters that are used. Longer plans are cut, and the report says so."""
