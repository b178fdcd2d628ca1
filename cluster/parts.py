"""Parts that an engine may be given instead of making them in its own process: pools that others share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from assayer.ports import Embedder, Reranker
from index import HoldsFullTexts
from orchestrator.api.searching import SearchedCorpus
from workers.full_texts.acquisition import GetsCopies, ReadsDocuments
from workers.literature.local import LocalCorpus
from workers.llm.line import Line
from workers.remote.call import Remote

__all__ = ["OWN", "CorporaInFlight", "LocalCorpusWithTexts", "Parts", "SharedDocuments"]


class LocalCorpusWithTexts(LocalCorpus, HoldsFullTexts, SearchedCorpus, Protocol):
    """The corpus as the federation and the API ask it, and the sections that came with its records."""


class CorporaInFlight(Protocol):
    """The corpus by its versions."""

    async def current(self) -> LocalCorpusWithTexts:
        """For who begins now. Raises CorpusError when there is none."""
        ...

    async def at(self, version: str) -> LocalCorpusWithTexts:
        """The one that somebody began with. Raises CorpusError when it is not there any more."""
        ...


class SharedDocuments(GetsCopies, ReadsDocuments, Protocol):
    """Copies of papers, fetched and read in one place; what is decided about them stays with who asks."""


@dataclass(frozen=True)
class Parts:
    """None: the engine makes its own."""

    line: Line | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    corpora: Callable[[Embedder], CorporaInFlight] | None = None
    """With the embedder of the engine, which queries are asked with."""
    remote: Remote | None = None
    documents: SharedDocuments | None = None


OWN = Parts()
