"""What evaluations read, composed from the settings: the corpus, the remote sources behind one courier, full texts."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from assayer.models import Absent, FullText, Paper, PaperId
from assayer.ports import Clock, FullTexts
from assayer.run import Run
from assayer.world import World
from cluster.settings import Settings
from index import Corpus, CorpusFullTexts
from index.memory import MemoryCorpus
from orchestrator.store import Database, PgReplies, PgTurns
from workers.literature import Federations
from workers.remote import Courier, Remote
from workers.remote.journalled import Journalled
from workers.sources.arxiv import Arxiv
from workers.sources.crossref import Crossref
from workers.sources.openalex import OpenAlex
from workers.sources.semantic_scholar import SemanticScholar
from workers.sources.source import Source

__all__ = ["SOURCES", "Shelves", "open_courier", "open_shelves"]

SOURCES: Mapping[str, Callable[[Remote], Source]] = {
    "semantic_scholar": SemanticScholar,
    "openalex": OpenAlex,
    "crossref": Crossref,
    "arxiv": Arxiv,
}
"""Sources of papers' records, by the name of their settings; the one first that is asked first where one is enough."""


@dataclass(frozen=True)
class CorpusTexts:
    """The sections that came with the corpus's records, as one run reads them."""

    corpus: CorpusFullTexts
    source: str
    run: Run

    async def get(self, papers: Sequence[Paper]) -> Mapping[PaperId, FullText | Absent]:
        found = await self.corpus.get(papers)
        texts = sum(isinstance(one, FullText) for one in found.values())
        self.run.journal.use(self.source, "full_texts", requests=len(papers), results=texts)
        return found


@dataclass(frozen=True)
class Shelves:
    """Made once; every evaluation gets its own view."""

    federations: Federations
    full_texts: Callable[[Run], FullTexts]

    def world(self, world: World, run: Run) -> World:
        """As one evaluation sees it."""
        return replace(world, literature=self.federations.for_run(run), full_texts=self.full_texts(run))

    @property
    def version(self) -> dict[str, object]:
        """What determines an answer, as far as anybody can name it."""
        return {"literature": self.federations.version, "options": self.federations.settings.model_dump()}


@asynccontextmanager
async def open_shelves(
    settings: Settings, corpus: Corpus | MemoryCorpus, database: Database, clock: Clock
) -> AsyncIterator[Shelves]:
    async with AsyncExitStack() as stack:
        on = {name: make for name, make in SOURCES.items() if settings.sources[name].base_url is not None}
        makers: dict[str, Callable[[Run], Source]] = {}
        if any(one.base_url is not None for one in settings.sources.values()):
            courier = await stack.enter_async_context(open_courier(settings, database, clock))
            makers = {name: _bound(make, courier) for name, make in on.items()}
        own = CorpusFullTexts(corpus)
        yield Shelves(
            federations=Federations(corpus, makers, settings.literature),
            full_texts=lambda run: CorpusTexts(own, corpus.source, run),
        )


@asynccontextmanager
async def open_courier(settings: Settings, database: Database, clock: Clock) -> AsyncIterator[Courier]:
    """The door to all sources that are on."""
    async with Courier(settings.sources, PgReplies(database), PgTurns(database), clock) as courier:
        yield courier


def _bound(make: Callable[[Remote], Source], courier: Courier) -> Callable[[Run], Source]:
    return lambda run: make(Journalled(courier, run.journal))
