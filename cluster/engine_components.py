"""Engine components (models, corpus, remote sources) that processes can share instead of each creating its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from assayer.ports import Embedder, Reranker
from index import FullTextLookup
from orchestrator.web.searchable_corpus import SearchableCorpus
from workers.literature.local_corpus import LocalCorpus
from workers.outbound.source_requests import SourceFetcher

if TYPE_CHECKING:
    from workers.full_texts.acquisition import Documents


class CorpusWithFullTexts(LocalCorpus, FullTextLookup, SearchableCorpus, Protocol):
    """Corpus that the API and literature federation search, and that has the full-text sections of its records."""


class CorpusVersions(Protocol):
    """Access to the corpus by version."""

    async def current(self) -> CorpusWithFullTexts:
        """Return the current version, for new work. Raises CorpusError if there is none."""
        ...

    async def at(self, version: str) -> CorpusWithFullTexts:
        """Return the version with which an earlier run started. Raises CorpusError if it is no longer available."""
        ...


@dataclass(frozen=True)
class SharedComponents:
    """Engine components supplied by the caller. The engine creates each component that is None."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    corpora: Callable[[Embedder], CorpusVersions] | None = None
    """Function that opens the corpus versions. It receives the engine's embedder, which embeds the queries."""
    remote: SourceFetcher | None = None
    documents: "Documents | None" = None


NOTHING_SHARED = SharedComponents()
