"""Options of ScholarEval: extent of the search. The defaults follow the paper if it specifies a number."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "scholareval"


class ScholarEvalOptions(Frozen):
    methods: int = Field(default=8, ge=1)
    """Maximum methods reviewed for soundness, most important first."""
    snippets: int = Field(default=20, ge=1)
    """Number of passages per query of a method."""
    papers_per_method: int = Field(default=30, ge=1)
    """Number of candidates per method."""
    looked_at: int = Field(default=100, ge=0)
    """Maximum number of candidates screened by title: once for all methods together, and once for all dimensions. A
    value of 0 disables the screening, and all search results are read."""
    opened: int = Field(default=24, ge=1)
    """Maximum number of papers that pass the title screening; these papers are read for soundness and compared for
    contribution."""
    evidence_chars: int = Field(default=5_000, ge=1)
    """Maximum characters of a paper in a prompt: abstract, matching passages, then methods and results sections."""
    reading_batch: int = Field(default=16, ge=1)
    """Number of papers read in one call, for all methods; fewer if the model's context window is too small."""
    reading_batch_chars: int = Field(default=27_000, ge=1)
    dimensions: int = Field(default=6, ge=1)
    hits: int = Field(default=20, ge=1)
    """Number of papers per query."""
    candidates: int = Field(default=100, ge=1)
    """Maximum number of papers kept from all queries, and again from the augmentation around papers that touch the
    contribution."""
    neighbours: int = Field(default=8, ge=0)
    references: int = Field(default=10, ge=0)
    compared: int = Field(default=24, ge=1)
    """Maximum number of papers compared before augmentation, and again after it; never more than the number opened."""
    augmented: int = Field(default=60, ge=0)
    """Maximum titles screened during augmentation around papers that touch the contribution, nearest first; 0
    disables it."""
    comparison_batch: int = Field(default=32, ge=1)
    """Number of papers compared in one call; fewer if the model's context window is too small."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum characters of an idea in prompts; longer ideas are cut, and the cut is reported."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine between a paper and the idea, or the method for which it was found, applied only if the corpus
    does not cover the field: such a corpus still returns its nearest papers, however unrelated they are."""
