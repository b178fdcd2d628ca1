"""Archived PDFs and what parsers read in them: one process may serve them to many."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from assayer.ports import Clock
from workers.concurrency.claims import Claims, InMemoryClaims
from workers.file_storage import FileStorage
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.document_reader import CachingDocumentReader
from workers.full_texts.embedded_parser import EmbeddedParser
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.parsed_paper import ParsedPaper
from workers.full_texts.pdf_fetcher import ArchivedPdf, ArchivingPdfFetcher, PdfDownloader, RepositoryPace
from workers.full_texts.pdf_locations import PdfLocation
from workers.full_texts.settings import FullTextSettings, GrobidSettings
from workers.full_texts.tei_reader import TeiReader
from workers.remote.rate_limit import InMemoryRateLimitStore, RateLimitStore

__all__ = ["DocumentStore", "open_document_store"]


@dataclass(frozen=True)
class DocumentStore:
    """Implements PdfFetcher and DocumentReader."""

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
    downloader: PdfDownloader,
    clock: Clock,
    rate_limits: RateLimitStore | None = None,
    claims: Claims | None = None,
) -> AsyncIterator[DocumentStore]:
    """`store` is an fsspec URL. Without `rate_limits` this process shares the pace of repositories with no other, and
    without `claims` the addresses that are being downloaded. Raises ConfigurationError."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(GrobidPool(grobid)) if grobid.urls else None
        archive = FullTextArchive(FileStorage(store), settings, clock)
        teis = TeiReader(settings.pdf, settings.parsers_at_once)
        embedded = EmbeddedParser(settings.pdf, settings.parsers_at_once)
        reader = CachingDocumentReader(archive, pool, teis, embedded, clock)
        pace = RepositoryPace(settings, rate_limits or InMemoryRateLimitStore(clock), clock)
        fetcher = ArchivingPdfFetcher(archive, downloader, claims or InMemoryClaims(clock), pace, settings)
        yield DocumentStore(fetcher, reader)
