"""Gets a copy of a paper into the archive, or remembers why it cannot be had. Processes share both."""

import asyncio
import datetime as dt
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from assayer.errors import AddressRefused, DownloadFailed, DownloadRefused, FullTextError
from workers.fetching import DownloadLimits
from workers.fetching.downloads import Download
from workers.fetching.kinds import Kind
from workers.full_texts.archive import Archive
from workers.full_texts.candidates import Candidate
from workers.full_texts.metrics import COPIES
from workers.full_texts.pace import HostPace
from workers.full_texts.settings import FullTextSettings

__all__ = ["Copies", "Copy", "Downloads"]

_WANTED: tuple[Kind, ...] = ("pdf",)


class Downloads(Protocol):
    """`workers.fetching.Downloader`, which visits addresses from data safely."""

    async def to_file(
        self, url: str, path: Path, wanted: Collection[Kind], limits: DownloadLimits | None = None
    ) -> Download:
        """Raises AddressRefused, DownloadRefused or DownloadFailed."""
        ...


class Copy(NamedTuple):
    sha256: str
    cached: bool
    """Whether it was there already."""


class Copies:
    def __init__(self, archive: Archive, downloads: Downloads, pace: HostPace, settings: FullTextSettings) -> None:
        self._archive = archive
        self._downloads = downloads
        self._pace = pace
        self._settings = settings

    async def get(self, candidate: Candidate) -> Copy:
        """Raises the failure of this visit, or of the last one while it counts; any other FullTextError is the
        archive's; StorageError when the store of turns is out of reach."""
        try:
            copy = await self._get(candidate)
        except FullTextError as error:
            COPIES.labels(candidate.source, type(error).__name__).inc()
            raise
        COPIES.labels(candidate.source, "stored" if copy.cached else "fetched").inc()
        return copy

    async def _get(self, candidate: Candidate) -> Copy:
        url = candidate.url
        known = await self._archive.visited(url)
        if known is not None:
            return Copy(known, cached=True)
        async with self._claimed(url):
            known = await self._archive.visited(url)  # by the process that had the claim before
            if known is not None:
                return Copy(known, cached=True)
            async with self._pace.turn(candidate.source):
                return Copy(await self._fetch(url), cached=False)

    @asynccontextmanager
    async def _claimed(self, url: str) -> AsyncIterator[None]:
        """Waits while another process works on the address; one that dies over it loses its claim after a time."""
        lifetime = dt.timedelta(seconds=self._settings.work_seconds)
        while not await self._archive.claim(url, lifetime):  # noqa: ASYNC110 - a file rings no bell
            await asyncio.sleep(self._settings.claim_look_seconds)
        try:
            yield
        finally:
            await self._archive.release(url)

    async def _fetch(self, url: str) -> str:
        with tempfile.TemporaryDirectory(prefix="assayer-pdf-") as folder:
            file = Path(folder) / "document.pdf"
            try:
                download = await self._downloads.to_file(url, file, _WANTED, self._settings.download)
            except (AddressRefused, DownloadFailed, DownloadRefused) as error:
                await self._archive.remember(url, error)
                raise
            await self._archive.keep(url, file, download.sha256)
            return download.sha256
