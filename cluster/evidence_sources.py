"""Evidence sources for evaluations, built from the settings: the corpus, remote literature sources, full texts, the
web, code and data sets. Modules that only remote sources need are imported when a source is opened."""

import datetime as dt
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from assayer.backends import Backends
from assayer.models import Absent, Codebase, FullText, Operation, Paper, PaperId, WebPage, Window
from assayer.ports import Clock, Code, Datasets, FullTexts, Web
from assayer.run.run import Run
from cluster.engine_components import NOTHING_SHARED, CorpusWithFullTexts, SharedComponents
from cluster.settings import Settings
from index import CorpusFullTexts
from orchestrator.store import Database, PgClaims, PgResponseCache, PgSharedState
from workers.datasets.adapter import DatasetsAdapter, DatasetSource
from workers.datasets.datacite import DataCite
from workers.datasets.kaggle import Kaggle
from workers.file_cache import FileCache
from workers.file_storage import FileStorage
from workers.literature.federated_literature import FederatedLiteratureFactory
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings
from workers.literature_apis.arxiv import Arxiv
from workers.literature_apis.capabilities import LiteratureSource, LocatesPdfs
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.google_scholar import GoogleScholar
from workers.literature_apis.openalex import OpenAlex
from workers.literature_apis.semantic_scholar import SemanticScholar
from workers.literature_apis.unpaywall import Unpaywall
from workers.outbound.source_requests import JournalledFetcher, RequestContext, SourceFetcher

if TYPE_CHECKING:
    from workers.fetching.downloader import Downloader
    from workers.full_texts.acquisition import Documents


@dataclass(frozen=True)
class BeyondPapersFactory:
    """Factory for access to the web, code and data sets. It is created once and makes separate adapters for each
    evaluation."""

    web: Callable[[Run], Web] | None = None
    code: Callable[[Run], Code] | None = None
    datasets: Mapping[str, Callable[[Run], Datasets]] = field(default_factory=dict)

    @property
    def version(self) -> list[str]:
        """Names of the sources that may be queried, recorded among a report's inputs."""
        return [
            *(name for name, adapter in (("web", self.web), ("code", self.code)) if adapter is not None),
            *self.datasets,
        ]


async def open_beyond_papers(
    settings: Settings, gateway: SourceFetcher, clock: Clock, stack: AsyncExitStack
) -> BeyondPapersFactory:
    """Open the sources for the web, code and data sets. Raises ConfigurationError if a configured component is not
    installed."""
    storage = FileStorage(settings.full_texts.store or str(settings.home / "documents"))

    def is_enabled(name: str) -> bool:
        return settings.sources[name].on

    web = code = None
    if settings.web.on or settings.github.on:
        from workers.fetching.downloader import Downloader

        downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
        web = _open_web(settings, gateway, storage, clock, downloader) if settings.web.on else None
        code = _open_code(settings, gateway, storage, clock, downloader) if settings.github.on else None
    return BeyondPapersFactory(
        web=web,
        code=code,
        datasets={
            name: _open_datasets(settings, gateway, kind) for name, kind in DATASET_SOURCES.items() if is_enabled(name)
        },
    )


def _open_web(
    settings: Settings, gateway: SourceFetcher, storage: FileStorage, clock: Clock, downloader: "Downloader"
) -> Callable[[Run], Web]:
    from workers.web.adapter import WebAdapter
    from workers.web.page_reader import PageReader
    from workers.web.search import WebSearch

    reader = PageReader(downloader, settings.pages, clock)
    cache = FileCache(storage, "pages", WebPage, clock, settings.pages.keep, settings.pages.retry)
    return lambda run: WebAdapter(
        WebSearch(JournalledFetcher(gateway, run.journal)), reader, cache, _create_request_context(settings, run)
    )


def _open_code(
    settings: Settings, gateway: SourceFetcher, storage: FileStorage, clock: Clock, downloader: "Downloader"
) -> Callable[[Run], Code]:
    from workers.code.adapter import CodeAdapter
    from workers.code.repository_survey import RepositorySurveyor

    surveyor = RepositorySurveyor(downloader, settings.code)
    cache = FileCache(storage, "code", Codebase, clock, dt.timedelta.max, settings.code.retry)
    return lambda run: CodeAdapter(
        JournalledFetcher(gateway, run.journal), surveyor, cache, settings.code, _create_request_context(settings, run)
    )


def _open_datasets(
    settings: Settings, gateway: SourceFetcher, kind: Callable[[SourceFetcher], DatasetSource]
) -> Callable[[Run], Datasets]:
    return lambda run: DatasetsAdapter(
        kind(JournalledFetcher(gateway, run.journal)), _create_request_context(settings, run)
    )


def _create_request_context(settings: Settings, run: Run) -> RequestContext:
    return RequestContext(run.id, settings.literature.patience_seconds)


DATASET_SOURCES: Mapping[str, Callable[[SourceFetcher], DatasetSource]] = {"kaggle": Kaggle, "datacite": DataCite}
"""Data set catalogues, keyed by the name of their settings section."""

Made = TypeVar("Made")

RECORD_SOURCES: Mapping[str, Callable[[SourceFetcher], LiteratureSource]] = {
    "semantic_scholar": SemanticScholar,
    "openalex": OpenAlex,
    "crossref": Crossref,
    "arxiv": Arxiv,
    "google_scholar": GoogleScholar,
}
"""Sources of paper records, keyed by the name of their settings section. If one source is enough, they are queried in
this order."""
PDF_LOCATORS: Mapping[str, Callable[[SourceFetcher], LocatesPdfs]] = {"unpaywall": Unpaywall, "openalex": OpenAlex}
"""Sources queried, in this order, for the location of a free PDF. Semantic Scholar is excluded, because its rate limit
is too low and its records already contain the location."""


@dataclass(frozen=True)
class JournalledCorpusTexts:
    """Full texts from corpus records. Each use is recorded in the run's journal."""

    corpus: CorpusWithFullTexts
    run: Run

    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        found = await CorpusFullTexts(self.corpus).get(papers, window)
        text_count = sum(isinstance(text, FullText) for text in found.values())
        self.run.journal.record_use(self.corpus.source, "full_texts", requests=len(papers), results=text_count)
        return found


@dataclass(frozen=True)
class LiteratureFactory:
    """Factory for literature access. It is created once; each evaluation gets its own access, with the corpus version
    with which the evaluation started."""

    sources: Mapping[str, Callable[[Run], LiteratureSource]]
    settings: LiteratureSettings
    full_texts: Callable[[Run, CorpusWithFullTexts], FullTexts]
    reading: Mapping[str, object]
    """Settings that determine which full texts are read."""
    own_references: Mapping[str, Callable[[Run], LiteratureSource]] = field(default_factory=dict)
    """Literature sources for looking up an idea's own references. Their requests are journalled separately."""
    beyond_papers: BeyondPapersFactory = field(default_factory=BeyondPapersFactory)
    """Access to the web, code and data sets, for methods that search them."""

    def add_to_backends(self, backends: Backends, run: Run, corpus: CorpusWithFullTexts) -> Backends:
        """Return `backends` with one evaluation's access to literature, the web, code and data sets added."""
        return replace(
            backends,
            literature=self._create_federations(corpus).for_run(run),
            full_texts=self.full_texts(run, corpus),
            web=self.beyond_papers.web(run) if self.beyond_papers.web else None,
            code=self.beyond_papers.code(run) if self.beyond_papers.code else None,
            datasets=tuple(make(run) for make in self.beyond_papers.datasets.values()),
            reference_sources=create_reference_sources(corpus, self.own_references, self.settings, run),
        )

    def version(self, corpus: CorpusWithFullTexts) -> dict[str, object]:
        """Return the sources and settings that determine the answers, with versions where they exist."""
        options = self.settings.model_dump() if self.sources else {}
        beyond_papers = {"outside": self.beyond_papers.version} if self.beyond_papers.version else {}
        literature = self._create_federations(corpus).version
        return {"literature": literature, "options": options, "full_texts": self.reading, **beyond_papers}

    def _create_federations(self, corpus: CorpusWithFullTexts) -> FederatedLiteratureFactory:
        return FederatedLiteratureFactory(corpus, self.sources, self.settings)


@asynccontextmanager
async def open_literature(
    settings: Settings,
    database: Database,
    clock: Clock,
    beyond_papers: bool = False,
    components: SharedComponents = NOTHING_SHARED,
) -> AsyncIterator[LiteratureFactory]:
    """Open the literature sources and, with `beyond_papers`, the web, code and data sets. Raises ConfigurationError if
    a component is missing or its settings are invalid, and StorageError."""
    active_sources = {name: source for name, source in settings.sources.items() if source.on}
    async with AsyncExitStack() as stack:
        gateway = components.remote if active_sources else None
        if active_sources and gateway is None:
            from workers.outbound.source_gateway import SourceGateway

            gateway = await stack.enter_async_context(
                SourceGateway(active_sources, PgResponseCache(database), PgSharedState(database), clock)
            )
        enabled = {name: make for name, make in RECORD_SOURCES.items() if gateway and name in active_sources}
        records = {name: _make_per_run(make, gateway) for name, make in enabled.items() if gateway}
        own_references = {
            name: _make_per_run(make, gateway, "own_references") for name, make in enabled.items() if gateway
        }
        locators = [
            _make_per_run(make, gateway) for name, make in PDF_LOCATORS.items() if gateway and name in active_sources
        ]
        beyond_papers_factory = BeyondPapersFactory()
        if gateway and beyond_papers:
            beyond_papers_factory = await open_beyond_papers(settings, gateway, clock, stack)
        yield LiteratureFactory(
            sources=records,
            settings=settings.literature,
            full_texts=await _open_full_texts(
                settings, locators, PgSharedState(database), PgClaims(database), clock, stack, components.documents
            ),
            reading={"fetch": settings.full_texts.fetch, "grobid": bool(settings.grobid.urls)},
            own_references=own_references,
            beyond_papers=beyond_papers_factory,
        )


async def _open_full_texts(
    settings: Settings,
    locators: Sequence[Callable[[Run], LocatesPdfs]],
    state: PgSharedState,
    claims: PgClaims,
    clock: Clock,
    stack: AsyncExitStack,
    documents: "Documents | None",
) -> Callable[[Run, CorpusWithFullTexts], FullTexts]:
    if not settings.full_texts.fetch:
        return lambda run, corpus: JournalledCorpusTexts(corpus, run)
    from workers.full_texts.acquisition import FullTextAcquisition
    from workers.full_texts.pdf_locations import JournalledPdfLocator
    from workers.full_texts.service import FullTextService, LocalFullTexts

    if documents is None:
        from workers.fetching.downloader import Downloader
        from workers.full_texts.document_store import open_document_store

        downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
        store_context = open_document_store(
            settings.full_texts, settings.grobid, get_document_store_url(settings), downloader, clock, state, claims
        )
        documents = await stack.enter_async_context(store_context)
    acquisition = FullTextAcquisition(documents, settings.full_texts)
    service = await stack.enter_async_context(FullTextService(acquisition, settings.full_texts))

    def full_texts(run: Run, corpus: CorpusWithFullTexts) -> FullTexts:
        local_texts = [LocalFullTexts(corpus.source, CorpusFullTexts(corpus))]
        return service.for_run(run, local_texts, [JournalledPdfLocator(make(run), run) for make in locators])

    return full_texts


def get_document_store_url(settings: Settings) -> str:
    """Return the document store's fsspec URL."""
    return settings.full_texts.store or str(settings.home / "documents")


def _make_per_run(
    make: Callable[[SourceFetcher], Made], gateway: SourceFetcher, purpose: Operation | None = None
) -> Callable[[Run], Made]:
    return lambda run: make(JournalledFetcher(gateway, run.journal, purpose))
