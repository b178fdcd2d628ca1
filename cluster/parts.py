"""Parts that an engine may be given instead of making them in its own process: pools that others share."""

from dataclasses import dataclass
from typing import Protocol

from assayer.ports import Embedder, Reranker
from index import HoldsFullTexts
from workers.full_texts.acquisition import GetsCopies, ReadsDocuments
from workers.literature.local import LocalCorpus
from workers.llm.line import Line
from workers.remote.call import Remote

__all__ = ["OWN", "LocalCorpusWithTexts", "Parts", "SharedDocuments"]


class LocalCorpusWithTexts(LocalCorpus, HoldsFullTexts, Protocol):
    """The corpus as the federation asks it, and the sections that came with its records."""


class SharedDocuments(GetsCopies, ReadsDocuments, Protocol):
    """Copies of papers, fetched and read in one place; what is decided about them stays with who asks."""


@dataclass(frozen=True)
class Parts:
    """None: the engine makes its own."""

    line: Line | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    corpus: LocalCorpusWithTexts | None = None
    remote: Remote | None = None
    documents: SharedDocuments | None = None


OWN = Parts()
