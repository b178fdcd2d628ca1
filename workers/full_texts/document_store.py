"""Fetch PDFs into the archive and parse them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from assayer.ports import Clock
from workers.fetching.downloader import Downloader
from workers.file_storage import FileStorage
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.document_reader import CachingDocumentReader
from workers.full_texts.embedded_parser import EmbeddedParser
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.parsed_paper import ParsedPaper
from workers.full_texts.pdf_fetcher import ArchivedPdf, ArchivingPdfFetcher, create_arxiv_pacer
from workers.full_texts.pdf_locations import PdfLocation
from workers.full_texts.settings import FullTextSettings, GrobidSettings
from workers.full_texts.tei_reader import TeiReader
from workers.outbound.claims import Claims, InMemoryClaims
from workers.outbound.store import InMemorySharedState, SharedState


@dataclass(frozen=True)
class DocumentStore:
    """Combines a fetcher and a reader for one archive. Implements `workers.full_texts.acquisition.Documents`."""

    fetcher: ArchivingPdfFetcher
    reader: CachingDocumentReader

    async def get(self, location: PdfLocation) -> ArchivedPdf:
        return await self.fetcher.get(location)

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        return await self.reader.read(sha256, source, seconds)


@asynccontextmanager
async def open_document_store(
    settings: FullTextSettings,
    grobid: GrobidSettings,
    store: str,
    downloader: Downloader,
    clock: Clock,
    state: SharedState | None = None,
    claims: Claims | None = None,
) -> AsyncIterator[DocumentStore]:
    """Open a document store at `store`, an fsspec URL. Without `state`, rate limits of repositories apply only to this
    process. Without `claims`, several processes may download from the same URL at once. Raises ConfigurationError if
    the store cannot be opened."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(GrobidPool(grobid)) if grobid.urls else None
        archive = FullTextArchive(FileStorage(store), settings, clock)
        tei_reader = TeiReader(settings.pdf, settings.parsers_at_once)
        embedded_parser = EmbeddedParser(settings.pdf, settings.parsers_at_once)
        reader = CachingDocumentReader(archive, pool, tei_reader, embedded_parser, clock)
        arxiv_pacer = create_arxiv_pacer(settings, state or InMemorySharedState(clock))
        stack.push_async_callback(arxiv_pacer.aclose)
        fetcher = ArchivingPdfFetcher(archive, downloader, claims or InMemoryClaims(), arxiv_pacer, settings)
        yield DocumentStore(fetcher, reader)
