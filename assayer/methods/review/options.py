"""Options of the review method: size of the panel, of its search and of its review."""

from typing import Literal

from pydantic import Field

from assayer.models import Frozen

METHOD = "review"
Lens = Literal["whole", "expert", "methods", "first_reader"]
"""Focus of a referee, in the order in which the editor sees the points: the plan as a whole; the subfield; methods and
statistics; questions of a first-time reader. The first is asked alone, the others together with its points in hand."""


class ReviewOptions(Frozen):
    points: int = Field(default=16, ge=1, le=16)
    """Maximum points of the referee for the plan as a whole."""
    side_points: int = Field(default=6, ge=1, le=16)
    """Maximum points of every other referee."""
    prior_work: int = Field(default=4, ge=0, le=6)
    """Maximum works that a referee may name from memory."""
    queries: int = Field(default=30, ge=1)
    """Maximum searches: for novelty claims first, then for points by severity."""
    hits: int = Field(default=10, ge=1)
    """Papers per query."""
    snippets: int = Field(default=5, ge=1)
    """Passages per query."""
    looked_at: int = Field(default=80, ge=1)
    """Maximum titles from which papers are chosen."""
    opened: int = Field(default=20, ge=1, le=25)
    """Papers read, at most."""
    side_opened: int = Field(default=6, ge=0)
    """Number of these papers that are reserved for the other referees' points; their titles are not screened."""
    evidence_chars: int = Field(default=1_500, ge=200)
    """Maximum characters of a paper in a prompt: abstract first, then matching passages."""
    reading_batch: int = Field(default=10, ge=1)
    """Number of papers read in one request, for all points."""
    notes: int = Field(default=20, ge=1)
    """Maximum passages for the editor and the support check."""
    words: int = Field(default=1_300, ge=200)
    """Maximum words of the review. Excess minor points are left out and counted."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine between a paper and the idea if the corpus does not cover the field; such a corpus still
    returns its nearest papers."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum characters of an idea in prompts; longer ideas are cut, and the cut is reported."""
