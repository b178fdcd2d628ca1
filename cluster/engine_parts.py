"""Parts of an engine that processes may share (models, corpus, remote sources) instead of each making its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from assayer.ports import Embedder, Reranker
from index import FullTextLookup
from orchestrator.api.searchable_corpus import SearchableCorpus
from workers.full_texts.acquisition import DocumentReader, PdfFetcher
from workers.literature.local_corpus import LocalCorpus
from workers.remote.request import SourceFetcher

__all__ = ["NOTHING_SHARED", "CorpusVersions", "CorpusWithFullTexts", "SharedDocuments", "SharedParts"]


class CorpusWithFullTexts(LocalCorpus, FullTextLookup, SearchableCorpus, Protocol):
    """The corpus as the federation and the API ask it, and the sections that came with its records."""


class CorpusVersions(Protocol):
    """The corpus by its versions."""

    async def current(self) -> CorpusWithFullTexts:
        """For who begins now. Raises CorpusError when there is none."""
        ...

    async def at(self, version: str) -> CorpusWithFullTexts:
        """The one that somebody began with. Raises CorpusError when it is not there any more."""
        ...


class SharedDocuments(PdfFetcher, DocumentReader, Protocol):
    """Copies of papers, fetched and read in one place; what is decided about them stays with who asks."""


@dataclass(frozen=True)
class SharedParts:
    """None: the engine makes its own."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    corpora: Callable[[Embedder], CorpusVersions] | None = None
    """With the embedder of the engine, which queries are asked with."""
    remote: SourceFetcher | None = None
    documents: SharedDocuments | None = None


NOTHING_SHARED = SharedParts()
