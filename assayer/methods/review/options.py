"""Options of the review method: limits for the panel's points, the search and the review."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "review"


class ReviewOptions(Frozen):
    points: int = Field(default=16, ge=1, le=16)
    """Maximum number of points from the referee who reviews the plan as a whole."""
    walkthrough_points: int = Field(default=60, ge=0, le=60)
    """Maximum number of points from the referee who goes through the plan sentence by sentence. If it is 0, there is no
    such referee."""
    prior_work: int = Field(default=8, ge=0, le=8)
    """Maximum number of works that the first referee can name from memory."""
    queries: int = Field(default=30, ge=1)
    """Maximum number of searches: first for novelty claims, then for points by severity."""
    hits: int = Field(default=10, ge=1)
    """Number of papers per query."""
    snippets: int = Field(default=5, ge=1)
    """Number of passages per query."""
    looked_at: int = Field(default=80, ge=1)
    """Maximum number of titles screened to choose papers. If it is at most `opened`, there is no screening."""
    opened: int = Field(default=20, ge=1, le=25)
    """Maximum number of papers read."""
    evidence_chars: int = Field(default=1_500, ge=200)
    """Maximum characters of a paper in a prompt: abstract first, then matching passages."""
    reading_batch: int = Field(default=10, ge=1)
    """Number of papers read in one request, for all points."""
    notes: int = Field(default=20, ge=1)
    """Maximum number of passages passed to the editor and the support check."""
    words: int = Field(default=1_300, ge=200)
    """Maximum words of the review. Excess minor points are left out and counted."""
    brief: bool = False
    """True to use short prompts that ask for few findings, for small models."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine between a paper and the idea, applied only if the corpus does not cover the field: such a corpus
    still returns its nearest papers, however unrelated they are."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum characters of an idea in prompts; longer ideas are cut, and the cut is reported."""
