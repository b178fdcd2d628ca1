"""Interfaces of remote literature sources, one per capability. Each API has some of them, and `RemoteLiterature`
queries the sources that have the capability it needs.

In the papers returned, `id` is `<prefix>:<the source's own id>` (`s2:…`, `arxiv:…`, `openalex:…`, `doi:…`), `source` is
the source's name, `identifiers` are those in the record, texts are cleaned by `assayer.text.sanitise.clean_text`, and
URLs come only from the record. A date known only to the month or year is set to its last day. All methods raise
SourceError if the source fails."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from assayer.models import Identifiers, Paper, Retraction, Window
from workers.outbound.source_requests import RequestContext


class Snippet(NamedTuple):
    """Passage of a paper that answers a query."""

    paper: Paper
    section: str
    """Where the passage is: `title`, `abstract` or the section's heading."""
    text: str
    cites: tuple[Identifiers, ...]
    """Papers cited in the passage (`refMentions`)."""


class LiteratureSource(Protocol):
    @property
    def name(self) -> str: ...


@runtime_checkable
class SearchesPapers(LiteratureSource, Protocol):
    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Search by title and abstract, best matches first."""
        ...


@runtime_checkable
class SearchesSnippets(LiteratureSource, Protocol):
    async def snippets(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Snippet]: ...


@runtime_checkable
class RecommendsPapers(LiteratureSource, Protocol):
    async def recommend(self, papers: Sequence[Identifiers], limit: int, context: RequestContext) -> list[Paper]:
        """Return papers similar to all the listed papers taken together, best first."""
        ...


@runtime_checkable
class ListsReferences(LiteratureSource, Protocol):
    async def references(self, paper: Identifiers, limit: int, context: RequestContext) -> list[Paper]:
        """Return the papers that the paper cites; empty if the source does not know the paper."""
        ...


@runtime_checkable
class ListsCitingPapers(LiteratureSource, Protocol):
    async def citing(self, paper: Identifiers, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Return the papers in the window that cite the paper; empty if the source does not know the paper."""
        ...


@runtime_checkable
class ResolvesIdentifiers(LiteratureSource, Protocol):
    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        """Return each paper's record, in order; None for an unknown paper. Uses as few requests as the API allows."""
        ...


@runtime_checkable
class ReportsRetractions(LiteratureSource, Protocol):
    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        """Return the papers' retraction notices, without papers that have none."""
        ...


@runtime_checkable
class LocatesPdfs(LiteratureSource, Protocol):
    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        """Return the URLs of open-access copies, best first; empty if there are none."""
        ...
