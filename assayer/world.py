"""Everything a method may use, handed over by whoever composes the program."""

from dataclasses import dataclass

from assayer.ports import Code, Embedder, FullTexts, Literature, Llm, Reranker, Web

__all__ = ["World"]


@dataclass(frozen=True)
class World:
    llm: Llm
    literature: Literature
    full_texts: FullTexts
    embedder: Embedder
    web: Web | None = None
    """None: no search of the web is configured."""
    code: Code | None = None
    """None: no host of code is configured."""
    reranker: Reranker | None = None
    """None: candidates are ranked by their embeddings alone."""
