"""Services that evaluation methods can use."""

from dataclasses import dataclass

from assayer.llm import Llm
from assayer.ports import Code, Datasets, Embedder, FullTexts, Literature, ReferenceSource, Reranker, Web


@dataclass(frozen=True)
class Backends:
    llm: Llm
    literature: Literature
    full_texts: FullTexts
    embedder: Embedder
    web: Web | None = None
    """Web search backend, or None if web search is not configured."""
    code: Code | None = None
    """Code host search backend, or None if no code host is configured."""
    datasets: tuple[Datasets, ...] = ()
    """Sources searched for data sets."""
    reranker: Reranker | None = None
    """Reranker for candidates, or None to rank candidates by their embeddings alone."""
    reference_sources: tuple[ReferenceSource, ...] = ()
    """Sources for looking up an idea's own references; the corpus comes first."""
