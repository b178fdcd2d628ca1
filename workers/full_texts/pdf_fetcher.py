"""Fetch PDFs into the archive, within each repository's rate limit, and record failures in the archive.

Processes share the archive and, through the database, claims on URLs and rate limits."""

import asyncio
import hashlib
import secrets
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

from assayer.errors import AddressRefused, DownloadFailed, DownloadRefused, FullTextError
from workers.fetching.content_types import ContentKind
from workers.fetching.downloader import Downloader
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.metrics import COPIES
from workers.full_texts.pdf_locations import PdfLocation
from workers.full_texts.settings import FullTextSettings
from workers.outbound.claims import Claims
from workers.outbound.source_pace import PaceLimits, Pacer
from workers.outbound.store import SharedState


def create_arxiv_pacer(settings: FullTextSettings, state: SharedState) -> Pacer:
    """Return the rate limiter for PDF downloads from arXiv. All processes with the same state share its limit."""
    limits = PaceLimits(settings.hosts.arxiv_spacing_seconds, 1, settings.download.seconds)
    return Pacer(state, f"files {settings.hosts.arxiv}", limits)


_ACCEPTED_KINDS: tuple[ContentKind, ...] = ("pdf",)


class ArchivedPdf(NamedTuple):
    sha256: str
    cached: bool
    """Whether the PDF was already in the archive."""


class ArchivingPdfFetcher:
    def __init__(
        self,
        archive: FullTextArchive,
        downloader: Downloader,
        claims: Claims,
        arxiv: Pacer,
        settings: FullTextSettings,
    ) -> None:
        self._archive = archive
        self._downloader = downloader
        self._claims = claims
        self._arxiv = arxiv
        self._settings = settings

    async def get(self, location: PdfLocation) -> ArchivedPdf:
        """Fetch the PDF into the archive, unless it is there already.

        Raises the download's error; before the time to retry, the error of the previous download. Raises other
        FullTextErrors if the archive fails, and StorageError if the store for claims and rate limits is unreachable."""
        try:
            pdf = await self._get(location)
        except FullTextError as error:
            COPIES.labels(location.source, type(error).__name__).inc()
            raise
        COPIES.labels(location.source, "stored" if pdf.cached else "fetched").inc()
        return pdf

    async def _get(self, location: PdfLocation) -> ArchivedPdf:
        url = location.url
        digest = await self._archive.find_document(url)
        if digest is not None:
            return ArchivedPdf(digest, cached=True)
        async with self._hold_claim(url):
            digest = await self._archive.find_document(url)  # another process may have fetched it in the meantime
            if digest is not None:
                return ArchivedPdf(digest, cached=True)
            async with self._arxiv.take_turn() if location.source == "arxiv_files" else nullcontext():
                return ArchivedPdf(await self._fetch(url), cached=False)

    @asynccontextmanager
    async def _hold_claim(self, url: str) -> AsyncIterator[None]:
        """Hold a claim on the URL, after waiting while another process downloads from it. If this process dies, the
        claim expires."""
        key, claimant = f"pdf {hashlib.sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()}", secrets.token_hex(8)
        claim = partial(self._claims.claim, key, claimant, self._settings.work_seconds)
        try:
            while not await claim():  # noqa: ASYNC110 - other processes send no event
                await asyncio.sleep(self._settings.claim_look_seconds)
            yield
        finally:
            await self._claims.release(key, claimant)

    async def _fetch(self, url: str) -> str:
        with tempfile.TemporaryDirectory(prefix="assayer-pdf-") as folder:
            file = Path(folder) / "document.pdf"
            try:
                download = await self._downloader.to_file(url, file, _ACCEPTED_KINDS, self._settings.download)
            except (AddressRefused, DownloadFailed, DownloadRefused) as error:
                await self._archive.add_download_failure(url, error)
                raise
            await self._archive.add_document(url, file, download.sha256)
            return download.sha256
