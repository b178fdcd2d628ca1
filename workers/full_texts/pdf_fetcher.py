"""Fetches a PDF into the archive at the pace its repository allows, or records why it cannot be had.

Processes share the archive and, through the database, the claims on addresses and the pace.
"""

import asyncio
import hashlib
import secrets
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from assayer.errors import AddressRefused, DownloadFailed, DownloadRefused, FullTextError
from assayer.ports import Clock
from workers.concurrency.claims import Claims
from workers.fetching import DownloadLimits
from workers.fetching.content_types import ContentKind
from workers.fetching.downloader import Download
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.metrics import COPIES
from workers.full_texts.pdf_locations import PdfLocation
from workers.full_texts.settings import FullTextSettings
from workers.remote.rate_limit import RateLimits, RateLimitStore, SharedRateLimit
from workers.remote.shared_pace import SharedPace

__all__ = ["ArchivedPdf", "ArchivingPdfFetcher", "PdfDownloader", "RepositoryPace"]


_SEND_WITHIN = 5.0


class RepositoryPace:
    """The rate limit of repositories that want to be asked slowly: one request at a time in this process, and the
    spacing over all processes that share the store."""

    def __init__(self, settings: FullTextSettings, store: RateLimitStore, clock: Clock) -> None:
        limits = RateLimits(
            spacing=settings.hosts.arxiv_spacing_seconds,
            transit=settings.download.answer_seconds,
            connections=1,
            daily_budget=None,
            send_within=_SEND_WITHIN,
            answer_within=settings.download.seconds,
        )
        limit = SharedRateLimit(store, f"files {settings.hosts.arxiv}", limits, clock)
        self._paces = {"arxiv_files": SharedPace(limit, clock)}

    @asynccontextmanager
    async def permit(self, source: str) -> AsyncIterator[None]:
        """For one request; at once where the repository sets no pace. Raises StorageError."""
        pace = self._paces.get(source)
        async with nullcontext() if pace is None else pace.permit():
            yield


_WANTED: tuple[ContentKind, ...] = ("pdf",)


class PdfDownloader(Protocol):
    """`workers.fetching.Downloader`, which visits addresses from data safely."""

    async def to_file(
        self, url: str, path: Path, wanted: Collection[ContentKind], limits: DownloadLimits | None = None
    ) -> Download:
        """Raises AddressRefused, DownloadRefused or DownloadFailed."""
        ...


class ArchivedPdf(NamedTuple):
    sha256: str
    cached: bool
    """Whether it was there already."""


class ArchivingPdfFetcher:
    def __init__(
        self,
        archive: FullTextArchive,
        downloader: PdfDownloader,
        claims: Claims,
        pace: RepositoryPace,
        settings: FullTextSettings,
    ) -> None:
        self._archive = archive
        self._downloader = downloader
        self._claims = claims
        self._pace = pace
        self._settings = settings

    async def get(self, location: PdfLocation) -> ArchivedPdf:
        """Raises the failure of this download, or of the last one while it counts; any other FullTextError is the
        archive's; StorageError when the store of claims and rate limits is out of reach."""
        try:
            pdf = await self._get(location)
        except FullTextError as error:
            COPIES.labels(location.source, type(error).__name__).inc()
            raise
        COPIES.labels(location.source, "stored" if pdf.cached else "fetched").inc()
        return pdf

    async def _get(self, location: PdfLocation) -> ArchivedPdf:
        url = location.url
        known = await self._archive.document_at(url)
        if known is not None:
            return ArchivedPdf(known, cached=True)
        async with self._claimed(url):
            known = await self._archive.document_at(url)  # by the process that had the claim before
            if known is not None:
                return ArchivedPdf(known, cached=True)
            async with self._pace.permit(location.source):
                return ArchivedPdf(await self._fetch(url), cached=False)

    @asynccontextmanager
    async def _claimed(self, url: str) -> AsyncIterator[None]:
        """Waits while somebody else downloads from the address; a process that dies loses its claim after a time."""
        key, claimant = f"pdf {hashlib.sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()}", secrets.token_hex(8)
        claim = partial(self._claims.claim, key, claimant, self._settings.work_seconds)
        try:
            while not await claim():  # noqa: ASYNC110 - no event tells of another process
                await asyncio.sleep(self._settings.claim_look_seconds)
            yield
        finally:
            await self._claims.release(key, claimant)

    async def _fetch(self, url: str) -> str:
        with tempfile.TemporaryDirectory(prefix="assayer-pdf-") as folder:
            file = Path(folder) / "document.pdf"
            try:
                download = await self._downloader.to_file(url, file, _WANTED, self._settings.download)
            except (AddressRefused, DownloadFailed, DownloadRefused) as error:
                await self._archive.add_download_failure(url, error)
                raise
            await self._archive.add_document(url, file, download.sha256)
            return download.sha256
