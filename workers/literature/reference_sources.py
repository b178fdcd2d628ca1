"""Look up the references that an idea cites: in the corpus and, within the limits for one idea, in each remote source.

Implements `assayer.ports.ReferenceSource`. No cutoff applies, because an idea may cite papers newer than the cutoff."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from assayer.errors import SourceBusy
from assayer.literature.paper_identity import ARXIV_DOIS
from assayer.models import OPEN, Identifiers, Paper, Retraction
from assayer.ports import Literature, ReferenceSource
from assayer.run.run import Run
from workers.literature.record_merging import add_url_identifiers
from workers.literature.settings import LiteratureSettings
from workers.literature_apis.capabilities import (
    LiteratureSource,
    ReportsRetractions,
    ResolvesIdentifiers,
    SearchesPapers,
)
from workers.outbound.source_requests import RequestContext

_MAX_REMOTE_RECORDS = 5
"""Maximum number of records from a remote source that are checked for one reference."""
_MAX_CORPUS_RECORDS = 50
"""Maximum number of corpus records that are checked for one reference. It is higher than for a remote source, because
the corpus search is not a title search, and papers that merely use the words of a short title often rank higher."""
_MAX_QUERY_CHARS = 300
"""Maximum number of a reference's characters used as a search query."""
_MAX_CONCURRENT_REQUESTS = 2
_SEARCHED_SOURCES = ("crossref", "openalex", "semantic_scholar")
"""Sources that are searched for a reference's text, in this order. Crossref is first because its search is designed for
reference-list entries; Semantic Scholar is last because its rate limit is low. arXiv is not searched, because its
search is not a title search."""


class CorpusReferenceSource:
    """Reference source that searches the corpus for a reference's text. It does not resolve identifiers."""

    searches = True

    def __init__(self, corpus: Literature, run: Run) -> None:
        self._corpus = corpus
        self._run = run
        self.name = corpus.source

    def can_resolve(self, paper: Identifiers) -> bool:
        return False

    async def resolve(self, papers: Sequence[Identifiers]) -> Sequence[Paper | None]:
        return [None for _ in papers]

    async def search(self, reference: str) -> Sequence[Paper]:
        (hits,) = await self._corpus.search([reference[:_MAX_QUERY_CHARS]], _MAX_CORPUS_RECORDS, OPEN)
        self._run.journal.record_use(self.name, "own_references", requests=1, results=len(hits))
        return [add_url_identifiers(hit.paper) for hit in hits]

    def can_check_retraction(self, paper: Identifiers) -> bool:
        """Return False, because the corpus states retractions in its records."""
        return False

    async def retractions(self, papers: Sequence[Identifiers]) -> Mapping[Identifiers, Retraction]:
        return {}


class RemoteReferenceSource:
    """Reference source that queries a remote API. The API's fetcher records requests in the journal; this class records
    results."""

    def __init__(self, source: LiteratureSource, settings: LiteratureSettings, run: Run) -> None:
        self._source = source
        self._run = run
        self._requests_left = settings.own_references
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT_REQUESTS)
        # A separate owner, so that the evaluation's searches do not wait behind its references.
        self._context = RequestContext(f"{run.id}/references", settings.patience_seconds)
        self.name = source.name
        self.searches = source.name in _SEARCHED_SOURCES and isinstance(source, SearchesPapers)

    def can_resolve(self, paper: Identifiers) -> bool:
        return isinstance(self._source, ResolvesIdentifiers) and self._is_supported(paper)

    def _is_supported(self, paper: Identifiers) -> bool:
        """Return whether the source supports any of the paper's identifiers. Crossref leaves arXiv DOIs to arXiv."""
        match self.name:
            case "crossref":
                return bool(paper.doi) and not paper.doi.startswith(ARXIV_DOIS)
            case "arxiv":
                return bool(paper.arxiv)
            case "openalex":
                return bool(paper.openalex or paper.doi or paper.arxiv)
            case _:
                return bool(paper.doi or paper.arxiv)

    async def resolve(self, papers: Sequence[Identifiers]) -> Sequence[Paper | None]:
        if not isinstance(self._source, ResolvesIdentifiers):
            return [None for _ in papers]
        records = await self._source.resolve(papers, self._context)
        self._record_results(sum(record is not None for record in records))
        return records

    async def search(self, reference: str) -> Sequence[Paper]:
        """Search for a reference's text. Raises SourceBusy if the limit for one idea is used up."""
        if not isinstance(self._source, SearchesPapers):
            return []
        if self._requests_left <= 0:
            raise SourceBusy(f"The limit on reference searches in {self.name} for one idea has been reached.")
        self._requests_left -= 1
        async with self._slots:
            records = await self._source.search(reference[:_MAX_QUERY_CHARS], _MAX_REMOTE_RECORDS, OPEN, self._context)
        self._record_results(len(records))
        return records

    def can_check_retraction(self, paper: Identifiers) -> bool:
        return isinstance(self._source, ReportsRetractions) and self._is_supported(paper)

    async def retractions(self, papers: Sequence[Identifiers]) -> Mapping[Identifiers, Retraction]:
        supported_papers = [paper for paper in papers if self._is_supported(paper)]
        if not isinstance(self._source, ReportsRetractions) or not supported_papers:
            return {}
        return await self._source.retractions(supported_papers, self._context)

    def _record_results(self, results: int) -> None:
        self._run.journal.record_use(self.name, "own_references", results=results)


def create_reference_sources(
    corpus: Literature,
    remote: Mapping[str, Callable[[Run], LiteratureSource]],
    settings: LiteratureSettings,
    run: Run,
) -> tuple[ReferenceSource, ...]:
    """Return the corpus, then sources that are searched by text, then sources that only resolve identifiers."""
    order = sorted(
        remote, key=lambda name: _SEARCHED_SOURCES.index(name) if name in _SEARCHED_SOURCES else len(_SEARCHED_SOURCES)
    )
    remote_sources = (RemoteReferenceSource(remote[name](run), settings, run) for name in order)
    return (CorpusReferenceSource(corpus, run), *remote_sources)
