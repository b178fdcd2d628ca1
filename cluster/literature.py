"""What evaluations read, composed from the settings: the corpus, the remote sources behind one courier, full texts."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from assayer.models import Absent, FullText, Paper, PaperId
from assayer.ports import Clock, FullTexts
from assayer.run import Run
from assayer.world import World
from cluster.outside import Outside, open_outside
from cluster.parts import OWN, LocalCorpusWithTexts, Parts, SharedDocuments
from cluster.settings import Settings
from index import CorpusFullTexts
from orchestrator.store import Database, PgReplies, PgTurns
from workers.fetching.downloads import Downloader
from workers.full_texts.acquisition import Acquisition
from workers.full_texts.documents import open_documents
from workers.full_texts.service import First, FullTextService
from workers.literature.federations import Federations
from workers.literature.locating import Locator
from workers.literature.settings import LiteratureSettings
from workers.remote.call import Remote
from workers.remote.courier import Courier
from workers.remote.journalled import Journalled
from workers.sources import Arxiv, Crossref, LocatesPdfs, OpenAlex, SemanticScholar, Source, Unpaywall

__all__ = ["LOCATORS", "RECORDS", "Shelves", "document_store", "open_shelves"]

Made = TypeVar("Made")

RECORDS: Mapping[str, Callable[[Remote], Source]] = {
    "semantic_scholar": SemanticScholar,
    "openalex": OpenAlex,
    "crossref": Crossref,
    "arxiv": Arxiv,
}
"""Sources of papers' records, by the name of their settings; the one first that is asked first where one is enough."""
LOCATORS: Mapping[str, Callable[[Remote], LocatesPdfs]] = {"unpaywall": Unpaywall, "openalex": OpenAlex}
"""Asked in this order where a free copy lies. Semantic Scholar's turns are too few, and its records say it anyway."""


@dataclass(frozen=True)
class CorpusTexts:
    """The sections that came with the corpus's records, as one run reads them."""

    corpus: LocalCorpusWithTexts
    run: Run

    async def get(self, papers: Sequence[Paper]) -> Mapping[PaperId, FullText | Absent]:
        found = await CorpusFullTexts(self.corpus).get(papers)
        texts = sum(isinstance(one, FullText) for one in found.values())
        self.run.journal.use(self.corpus.source, "full_texts", requests=len(papers), results=texts)
        return found


@dataclass(frozen=True)
class Shelves:
    """Made once; every evaluation gets its own view, with the version of the corpus that it began with."""

    sources: Mapping[str, Callable[[Run], Source]]
    settings: LiteratureSettings
    full_texts: Callable[[Run, LocalCorpusWithTexts], FullTexts]
    reading: Mapping[str, object]
    """What determines which full texts are read."""
    outside: Outside = field(default_factory=Outside)
    """The web and code, for methods that search them."""

    def world(self, world: World, run: Run, corpus: LocalCorpusWithTexts) -> World:
        """As one evaluation sees it."""
        return replace(
            world,
            literature=self._federations(corpus).for_run(run),
            full_texts=self.full_texts(run, corpus),
            web=self.outside.web(run) if self.outside.web else None,
            code=self.outside.code(run) if self.outside.code else None,
        )

    def version(self, corpus: LocalCorpusWithTexts) -> dict[str, object]:
        """What determines the answers, as far as anybody can name it."""
        options = self.settings.model_dump() if self.sources else {}
        more = {"outside": self.outside.version} if self.outside.version else {}
        literature = self._federations(corpus).version
        return {"literature": literature, "options": options, "full_texts": self.reading, **more}

    def _federations(self, corpus: LocalCorpusWithTexts) -> Federations:
        return Federations(corpus, self.sources, self.settings)


@asynccontextmanager
async def open_shelves(
    settings: Settings,
    database: Database,
    clock: Clock,
    beyond_papers: bool = False,
    parts: Parts = OWN,
) -> AsyncIterator[Shelves]:
    """The web and code too, if a method searches `beyond_papers`. Raises ConfigurationError or StorageError."""
    on = {name: one for name, one in settings.sources.items() if one.on}
    async with AsyncExitStack() as stack:
        courier = parts.remote if on else None
        if on and courier is None:
            courier = await stack.enter_async_context(Courier(on, PgReplies(database), PgTurns(database), clock))
        records = {name: _bound(make, courier) for name, make in RECORDS.items() if courier and name in on}
        locators = [_bound(make, courier) for name, make in LOCATORS.items() if courier and name in on]
        outside = Outside()
        if courier and beyond_papers:
            outside = await open_outside(settings, courier, clock, stack)
        yield Shelves(
            sources=records,
            settings=settings.literature,
            full_texts=await _full_texts(settings, locators, PgTurns(database), clock, stack, parts.documents),
            reading={"fetch": settings.full_texts.fetch, "grobid": bool(settings.grobid.urls)},
            outside=outside,
        )


async def _full_texts(
    settings: Settings,
    locators: Sequence[Callable[[Run], LocatesPdfs]],
    turns: PgTurns,
    clock: Clock,
    stack: AsyncExitStack,
    documents: SharedDocuments | None,
) -> Callable[[Run, LocalCorpusWithTexts], FullTexts]:
    if not settings.full_texts.fetch:
        return lambda run, corpus: CorpusTexts(corpus, run)
    if documents is None:
        downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
        opening = open_documents(
            settings.full_texts, settings.grobid, document_store(settings), downloader, clock, turns
        )
        documents = await stack.enter_async_context(opening)
    acquisition = Acquisition(documents, documents, settings.full_texts)
    service = await stack.enter_async_context(FullTextService(acquisition, settings.full_texts))

    def full_texts(run: Run, corpus: LocalCorpusWithTexts) -> FullTexts:
        first = [First(corpus.source, CorpusFullTexts(corpus))]
        return service.for_run(run, first, [Locator(make(run), run) for make in locators])

    return full_texts


def document_store(settings: Settings) -> str:
    """An fsspec URL."""
    return settings.full_texts.store or str(settings.home / "documents")


def _bound(make: Callable[[Remote], Made], courier: Remote) -> Callable[[Run], Made]:
    return lambda run: make(Journalled(courier, run.journal))
