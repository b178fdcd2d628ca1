"""Pools that access the internet, to query remote literature sources and to download papers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.evidence_sources import get_document_store_url
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import BackgroundContext, Replica, ReplicaConfig
from cluster.settings import Settings
from orchestrator.store import PgClaims, PgResponseCache, PgSharedState
from workers.fetching.downloader import Downloader
from workers.full_texts.document_store import DocumentStore, open_document_store
from workers.full_texts.parsed_paper import ParsedPaper
from workers.full_texts.pdf_fetcher import ArchivedPdf
from workers.full_texts.pdf_locations import PdfLocation
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext, SourceRequest, SourceResponse


class LiteratureReplica(Replica):
    async def __init__(self, config: ReplicaConfig) -> None:  # type: ignore[misc]  # Serve awaits it
        self._gateway = await BackgroundContext.open(_open_gateway(self.begin(config)))

    async def fetch(self, call: SourceRequest, ask: RequestContext) -> SourceResponse:
        return await self._gateway.value.fetch(call, ask)

    async def __del__(self) -> None:
        await self._gateway.close()


class PooledSourceGateway:
    """Source fetcher that uses the literature pool. Implements `workers.outbound.source_requests.SourceFetcher`."""

    def __init__(self, pool: PoolClient[LiteratureReplica]) -> None:
        self._pool = pool

    async def fetch(self, call: SourceRequest, ask: RequestContext) -> SourceResponse:
        return await self._pool.ask(LiteratureReplica.fetch, call, ask)


class DocumentsReplica(Replica):
    async def __init__(self, config: ReplicaConfig) -> None:  # type: ignore[misc]  # Serve awaits it
        self._documents = await BackgroundContext.open(_open_documents(self.begin(config)))

    async def get(self, location: PdfLocation) -> ArchivedPdf:
        return await self._documents.value.get(location)

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        return await self._documents.value.read(sha256, source, seconds)

    async def __del__(self) -> None:
        await self._documents.close()


class PooledDocuments:
    """Documents that the full-text pool downloads and parses. Implements `workers.full_texts.acquisition.Documents`."""

    def __init__(self, pool: PoolClient[DocumentsReplica]) -> None:
        self._pool = pool

    async def get(self, location: PdfLocation) -> ArchivedPdf:
        return await self._pool.ask(DocumentsReplica.get, location)

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        return await self._pool.ask(DocumentsReplica.read, sha256, source, seconds)


@asynccontextmanager
async def _open_gateway(settings: Settings) -> AsyncIterator[SourceGateway]:
    active_sources = {name: source for name, source in settings.sources.items() if source.on}
    async with (
        open_database(settings) as database,
        SourceGateway(active_sources, PgResponseCache(database), PgSharedState(database), SystemClock()) as gateway,
    ):
        yield gateway


@asynccontextmanager
async def _open_documents(settings: Settings) -> AsyncIterator[DocumentStore]:
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
        yield await stack.enter_async_context(
            open_document_store(
                settings.full_texts,
                settings.grobid,
                get_document_store_url(settings),
                downloader,
                clock,
                PgSharedState(database),
                PgClaims(database),
            )
        )
