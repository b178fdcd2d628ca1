"""What reaches out of the house as pools: requests to remote sources, and copies of papers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.literature import document_store
from cluster.serving.calling import Caller
from cluster.serving.holding import Holding
from cluster.serving.replica import Replica
from cluster.serving.where import Where
from cluster.settings import Settings
from orchestrator.store import PgReplies, PgTurns
from workers.fetching.downloads import Downloader
from workers.full_texts.candidates import Candidate
from workers.full_texts.copies import Copy
from workers.full_texts.documents import Documents, open_documents
from workers.full_texts.parsed import ParsedPaper
from workers.remote.call import Ask, Call, Reply
from workers.remote.courier import Courier

__all__ = ["DocumentsReplica", "LiteratureReplica", "ServedDocuments", "ServedRemote"]


class LiteratureReplica(Replica):
    async def __init__(self, where: Where) -> None:  # type: ignore[misc]  # Serve awaits it
        self._courier = await Holding.open(_courier(self.begin(where)))

    async def fetch(self, call: Call, ask: Ask) -> Reply:
        return await self._courier.value.fetch(call, ask)

    async def __del__(self) -> None:
        await self._courier.close()


class ServedRemote:
    """Implements workers.remote.Remote."""

    def __init__(self, caller: Caller[LiteratureReplica]) -> None:
        self._caller = caller

    async def fetch(self, call: Call, ask: Ask) -> Reply:
        return await self._caller.ask(LiteratureReplica.fetch, call, ask)


class DocumentsReplica(Replica):
    async def __init__(self, where: Where) -> None:  # type: ignore[misc]  # Serve awaits it
        self._documents = await Holding.open(_documents(self.begin(where)))

    async def get(self, candidate: Candidate) -> Copy:
        return await self._documents.value.get(candidate)

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        return await self._documents.value.read(sha256, source, seconds)

    async def __del__(self) -> None:
        await self._documents.close()


class ServedDocuments:
    """Implements cluster.parts.SharedDocuments."""

    def __init__(self, caller: Caller[DocumentsReplica]) -> None:
        self._caller = caller

    async def get(self, candidate: Candidate) -> Copy:
        return await self._caller.ask(DocumentsReplica.get, candidate)

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        return await self._caller.ask(DocumentsReplica.read, sha256, source, seconds)


@asynccontextmanager
async def _courier(settings: Settings) -> AsyncIterator[Courier]:
    on = {name: one for name, one in settings.sources.items() if one.on}
    async with (
        open_database(settings) as database,
        Courier(on, PgReplies(database), PgTurns(database), SystemClock()) as courier,
    ):
        yield courier


@asynccontextmanager
async def _documents(settings: Settings) -> AsyncIterator[Documents]:
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
        yield await stack.enter_async_context(
            open_documents(
                settings.full_texts, settings.grobid, document_store(settings), downloader, clock, PgTurns(database)
            )
        )
