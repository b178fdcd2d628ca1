"""Copies of papers in the archive, and what parsers read in them: one process may do it for many."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from assayer.ports import Clock
from workers.full_texts.archive import Archive
from workers.full_texts.candidates import Candidate
from workers.full_texts.copies import Copies, Copy, Downloads
from workers.full_texts.embedded import EmbeddedParser
from workers.full_texts.pace import HostPace
from workers.full_texts.parsed import ParsedPaper
from workers.full_texts.pool import GrobidPool
from workers.full_texts.reader import DocumentReader
from workers.full_texts.settings import FullTextSettings, GrobidSettings
from workers.full_texts.storage import Storage
from workers.remote.turns import MemoryTurns, Turns

__all__ = ["Documents", "open_documents"]


@dataclass(frozen=True)
class Documents:
    """Implements GetsCopies and ReadsDocuments."""

    copies: Copies
    reader: DocumentReader

    async def get(self, candidate: Candidate) -> Copy:
        return await self.copies.get(candidate)

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        return await self.reader.read(sha256, source, seconds)


@asynccontextmanager
async def open_documents(
    settings: FullTextSettings,
    grobid: GrobidSettings,
    store: str,
    downloads: Downloads,
    clock: Clock,
    turns: Turns | None = None,
) -> AsyncIterator[Documents]:
    """`store` is an fsspec URL; without `turns` this process shares the pace of repositories with no other. Raises
    ConfigurationError."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(GrobidPool(grobid)) if grobid.urls else None
        archive = Archive(Storage(store), settings, clock)
        reader = DocumentReader(archive, pool, EmbeddedParser(settings.pdf, settings.parsers_at_once), clock)
        pace = HostPace(settings, turns or MemoryTurns(clock), clock)
        yield Documents(Copies(archive, downloads, pace, settings), reader)
