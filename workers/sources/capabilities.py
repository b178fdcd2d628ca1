"""What a remote source of literature can do. Each API does some of it; `RemoteLiterature` asks those that can.

Papers come back with `id` as `<prefix>:<the source's own id>` (`s2:…`, `arxiv:…`, `openalex:…`, `doi:…`), `source` the
source's name, `identifiers` filled as far as the record goes, texts cleaned (`assayer.text.sanitise.clean_text`), URLs
from the record only. Dates known to the month or year are the last day of it. All raise SourceError.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from assayer.models import Identifiers, Paper, Retraction, Window
from workers.remote.request import RequestContext

__all__ = [
    "ListsCitingPapers",
    "ListsReferences",
    "LiteratureSource",
    "LocatesPdfs",
    "RecommendsPapers",
    "ReportsRetractions",
    "ResolvesIdentifiers",
    "SearchesPapers",
    "SearchesSnippets",
    "Snippet",
]


class Snippet(NamedTuple):
    """A stretch of a paper that answers a query."""

    paper: Paper
    section: str
    """`title`, `abstract`, or the heading of the section it stands in."""
    text: str
    cites: tuple[Identifiers, ...]
    """Papers that it refers to (`refMentions`)."""


class LiteratureSource(Protocol):
    @property
    def name(self) -> str: ...


@runtime_checkable
class SearchesPapers(LiteratureSource, Protocol):
    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """By title and abstract, best first."""
        ...


@runtime_checkable
class SearchesSnippets(LiteratureSource, Protocol):
    async def snippets(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Snippet]: ...


@runtime_checkable
class RecommendsPapers(LiteratureSource, Protocol):
    async def recommend(self, papers: Sequence[Identifiers], limit: int, context: RequestContext) -> list[Paper]:
        """Papers like all of the given ones together, best first."""
        ...


@runtime_checkable
class ListsReferences(LiteratureSource, Protocol):
    async def references(self, paper: Identifiers, limit: int, context: RequestContext) -> list[Paper]:
        """What it cites; empty when the source does not know the paper."""
        ...


@runtime_checkable
class ListsCitingPapers(LiteratureSource, Protocol):
    async def citing(self, paper: Identifiers, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """The papers of the window that cite it; empty when the source does not know the paper."""
        ...


@runtime_checkable
class ResolvesIdentifiers(LiteratureSource, Protocol):
    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        """The record of each, in order, None for an unknown one; in as few requests as the API allows."""
        ...


@runtime_checkable
class ReportsRetractions(LiteratureSource, Protocol):
    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        """Notices about the given papers; those without one are missing from the answer."""
        ...


@runtime_checkable
class LocatesPdfs(LiteratureSource, Protocol):
    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        """Free copies, best first; empty when there is none."""
        ...
