"""Everything a method may use, handed over by whoever composes the program."""

from dataclasses import dataclass

from assayer.llm import Llm
from assayer.ports import Code, Datasets, Embedder, FullTexts, Literature, ReferenceSource, Reranker, Web

__all__ = ["Backends"]


@dataclass(frozen=True)
class Backends:
    llm: Llm
    literature: Literature
    full_texts: FullTexts
    embedder: Embedder
    web: Web | None = None
    """None: no search of the web is configured."""
    code: Code | None = None
    """None: no host of code is configured."""
    datasets: tuple[Datasets, ...] = ()
    """Where data sets are searched."""
    reranker: Reranker | None = None
    """None: candidates are ranked by their embeddings alone."""
    reference_sources: tuple[ReferenceSource, ...] = ()
    """Where an idea's own references are looked for, the corpus first."""
