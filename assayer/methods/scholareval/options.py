"""Options for ScholarEval: how far it searches. Where the paper specifies a number, it is the default."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "scholareval"


class ScholarEvalOptions(Frozen):
    methods: int = Field(default=8, ge=1)
    """Maximum number of methods reviewed for soundness, most important first."""
    snippets: int = Field(default=20, ge=1)
    """Number of passages retrieved per query for a method."""
    papers_per_method: int = Field(default=30, ge=1)
    """Number of candidates per method."""
    looked_at: int = Field(default=100, ge=0)
    """Maximum number of candidates screened by title, once for all methods together and once for all dimensions. At 0,
    nothing is screened and all search results are read."""
    opened: int = Field(default=24, ge=1)
    """Maximum number of papers that pass the title screening. They are read for soundness and compared for
    contribution."""
    evidence_chars: int = Field(default=5_000, ge=1)
    """Maximum number of characters shown per paper: abstract, matching passages, then methods and results sections."""
    reading_batch: int = Field(default=24, ge=1)
    """Number of papers read per LLM request, for all methods; fewer if the model's context window is too small."""
    reading_batch_chars: int = Field(default=27_000, ge=1)
    dimensions: int = Field(default=6, ge=1)
    hits: int = Field(default=20, ge=1)
    """Number of papers retrieved per query."""
    candidates: int = Field(default=100, ge=1)
    """Maximum number of papers kept from all queries together, and again from the neighbourhood of papers that touch
    the contribution."""
    neighbours: int = Field(default=8, ge=0)
    references: int = Field(default=10, ge=0)
    compared: int = Field(default=24, ge=1)
    """Maximum number of papers compared from the queries, and again from the neighbourhood; never more than
    `opened`."""
    augmented: int = Field(default=60, ge=0)
    """Maximum number of titles screened in the neighbourhood of papers that touch the contribution, nearest first; 0 to
    skip the neighbourhood."""
    comparison_batch: int = Field(default=32, ge=1)
    """Number of papers compared per LLM request; fewer if the model's context window is too small."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum number of an idea's characters in prompts. Longer ideas are cut, and the report says so."""
    least_similarity_in_poor_corpus: float = 0.55
    """Minimum cosine similarity between a paper and the idea, or the method for which it was found, applied only if the
    corpus does not cover the field: such a corpus still returns its nearest papers, however unrelated they are."""
