"""Options for the review method: limits on the panel's points, the search and the review."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "review"


class ReviewOptions(Frozen):
    points: int = Field(default=16, ge=1, le=16)
    """Maximum number of points from the referee model that reviews the plan as a whole."""
    walkthrough_points: int = Field(default=60, ge=0, le=60)
    """Maximum number of points from the referee model that goes through the plan sentence by sentence; 0 for no such
    referee."""
    prior_work: int = Field(default=8, ge=0, le=8)
    """Maximum number of works that the first referee may name from memory."""
    queries: int = Field(default=30, ge=1)
    """Maximum number of search queries. Novelty claims come first, then points by severity."""
    hits: int = Field(default=10, ge=1)
    """Number of papers retrieved per query."""
    snippets: int = Field(default=5, ge=1)
    """Number of passages retrieved per query."""
    looked_at: int = Field(default=80, ge=1)
    """Maximum number of titles screened to choose papers. There is no screening if this does not exceed `opened`."""
    opened: int = Field(default=20, ge=1, le=25)
    """Maximum number of papers read."""
    evidence_chars: int = Field(default=1_500, ge=200)
    """Maximum number of characters shown per paper: abstract first, then matching passages."""
    reading_batch: int = Field(default=10, ge=1)
    """Number of papers read per LLM request, for all points."""
    notes: int = Field(default=20, ge=1)
    """Maximum number of passages shown to the editor model and checked for support."""
    words: int = Field(default=1_300, ge=200)
    """Maximum number of words in the review. Excess minor points are left out and counted."""
    brief: bool = False
    """Whether to use short prompts that ask for few findings, for small models."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine similarity between a paper and the idea, applied only if the corpus does not cover the field: such
    a corpus still returns its nearest papers, however unrelated they are."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum number of an idea's characters in prompts. Longer ideas are cut, and the report says so."""
