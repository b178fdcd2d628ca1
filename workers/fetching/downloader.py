"""Download from untrusted URLs, with address checks at every redirect, limits on size and time, and metrics of
outcomes."""

import asyncio
import ssl
from collections.abc import Collection
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientPayloadError,
    ClientResponse,
    ServerDisconnectedError,
)
from prometheus_client import Counter
from yarl import URL

from assayer.errors import AddressRefused, DownloadFailed, DownloadRefused, FullTextError
from assayer.ports import Clock
from workers.fetching.content_types import ContentKind
from workers.fetching.response_body import WritePiece, receive_body
from workers.fetching.robots import HostSlots, Robots
from workers.fetching.settings import DownloadLimits, FetchingSettings
from workers.fetching.ssrf_guard import AddressPolicy, GuardedClient, HostResolver, make_loggable

DOWNLOADS = Counter(
    "assayer_downloads_total",
    "Downloads by outcome: delivered, absent (a status other than 200), or the name of the error.",
    ["outcome"],
)
DOWNLOADED_BYTES = Counter("assayer_download_bytes_total", "Bytes of delivered bodies after decompression.")

_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_WRITE_BYTES = 1_048_576
"""Number of bytes written to disk at a time."""
_ROBOTS_LIMITS = DownloadLimits(bytes=1_000_000, seconds=20.0, answer_seconds=10.0, patience=10.0)


class Download(NamedTuple):
    url: str
    """URL after redirects."""
    kind: ContentKind
    charset: str
    """Charset declared by the server; empty if it declared none."""
    size: int
    sha256: str
    """SHA-256 of the body as stored, after decompression."""


class _DownloadRequest(NamedTuple):
    accepted_kinds: Collection[ContentKind]
    limits: DownloadLimits
    write: WritePiece
    obeys_robots: bool


class Downloader(GuardedClient):
    """Downloader shared by a whole process, open within its `with` block. Raises AddressRefused if an address is not
    allowed, DownloadRefused if the response is not acceptable, and DownloadFailed if there is none."""

    def __init__(
        self,
        settings: FetchingSettings,
        clock: Clock,
        resolver: HostResolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Create a downloader. `tls` replaces the machine's trusted certificates; server certificates are always
        verified."""
        self._settings = settings
        self._clock = clock
        headers = {"User-Agent": settings.user_agent, "Accept-Encoding": "gzip, deflate"}
        super().__init__(AddressPolicy.from_settings(settings), resolver, headers)
        self._tls: ssl.SSLContext | bool = tls or True
        self._connections = asyncio.Semaphore(settings.connections)
        self._host_slots = HostSlots(settings.connections_per_host)
        self._robots = Robots(self._read_robots, settings.user_agent, settings.robots_hours, clock)

    async def to_file(
        self, url: str, path: Path, accepted_kinds: Collection[ContentKind], limits: DownloadLimits | None = None
    ) -> Download:
        """Download the body into a new file, which is deleted on failure. Raises the base class FullTextError if the
        disk fails."""
        file = await asyncio.to_thread(path.open, "xb", buffering=0)
        buffer = bytearray()

        async def write(piece: bytes) -> None:
            buffer.extend(piece)
            if len(buffer) >= _WRITE_BYTES:
                await asyncio.to_thread(_write_all, file, bytes(buffer))
                buffer.clear()

        request = _DownloadRequest(accepted_kinds, limits or DownloadLimits(), write, obeys_robots=False)
        try:
            download = _require_delivered(await self._download(url, request), url)
            await asyncio.to_thread(_write_all, file, bytes(buffer))
        except BaseException:
            path.unlink(missing_ok=True)  # noqa: ASYNC240 - a cancelled task must not wait for a thread
            raise
        finally:
            file.close()
        return download

    async def read(
        self,
        url: str,
        accepted_kinds: Collection[ContentKind],
        limits: DownloadLimits | None = None,
        *,
        robots: bool = False,
    ) -> tuple[Download, bytes]:
        """Download the body into memory; meant for small limits. With `robots`, pages that robots.txt disallows are
        refused."""
        answer, body = await self._download_body(url, accepted_kinds, limits or DownloadLimits(), robots)
        return _require_delivered(answer, url), body

    async def _read_robots(self, url: URL) -> str | None:
        answer, body = await self._download_body(str(url), ("text", "html"), _ROBOTS_LIMITS, robots=False)
        if isinstance(answer, int) and not 400 <= answer < 500:
            raise DownloadFailed(f"{make_loggable(url)} returned status {answer}.")
        return None if isinstance(answer, int) else body.decode("utf-8", "replace")

    async def _download_body(
        self, url: str, accepted_kinds: Collection[ContentKind], limits: DownloadLimits, robots: bool
    ) -> tuple[Download | int, bytes]:
        body = bytearray()

        async def write(piece: bytes) -> None:
            body.extend(piece)

        answer = await self._download(url, _DownloadRequest(accepted_kinds, limits, write, robots))
        return answer, bytes(body)

    async def _download(self, text: str, request: _DownloadRequest) -> Download | int:
        """Return the completed download, or the status of a response without a body."""
        try:
            answer = await self._follow_redirects(text, request)
        except FullTextError as error:
            DOWNLOADS.labels(type(error).__name__).inc()
            raise
        if isinstance(answer, int):
            DOWNLOADS.labels("absent").inc()
        else:
            DOWNLOADS.labels("delivered").inc()
            DOWNLOADED_BYTES.inc(answer.size)
        return answer

    async def _follow_redirects(self, text: str, request: _DownloadRequest) -> Download | int:
        url, seconds_left = self._policy.check_url(text), request.limits.seconds
        for _ in range(self._settings.redirects + 1):
            if request.obeys_robots:
                await self._robots.check_allowed(url)
            async with self._host_slots.hold_slot(url.host or ""), self._connections:
                started = self._clock.monotonic()
                try:
                    async with asyncio.timeout(seconds_left):
                        answer = await self._send_request(url, request)
                except TimeoutError:
                    raise DownloadRefused(
                        f"The download of {make_loggable(url)} was stopped: it exceeded the limit of "
                        f"{request.limits.seconds:g} s."
                    ) from None
                seconds_left -= self._clock.monotonic() - started
            if not isinstance(answer, URL):
                return answer
            url = self._policy.check_url(str(answer))
        raise DownloadRefused(f"{make_loggable(text)} redirected more than {self._settings.redirects} times.")

    async def _send_request(self, url: URL, request: _DownloadRequest) -> Download | URL | int:
        logged_url = make_loggable(url)
        try:
            async with await self._open_response(url, request.limits) as response:
                if response.status in _REDIRECT_STATUSES:
                    return _resolve_redirect(response, url)
                if response.status != HTTPStatus.OK:
                    return response.status
                kind, size, sha256 = await receive_body(
                    response, logged_url, request.accepted_kinds, request.limits, request.write, self._clock
                )
                return Download(str(url), kind, response.charset or "", size, sha256)
        except (ClientError, OSError) as error:
            raise DownloadFailed(f"{logged_url} could not be fetched: {describe_network_error(error)}.") from error

    async def _open_response(self, url: URL, limits: DownloadLimits) -> ClientResponse:
        """Send the request and read the response headers."""
        try:
            async with asyncio.timeout(limits.answer_seconds):
                return await self._session.get(url, allow_redirects=False, ssl=self._tls)
        except TimeoutError:
            raise DownloadFailed(f"{make_loggable(url)} did not answer within {limits.answer_seconds:g} s.") from None


def _write_all(file: FileIO, data: bytes) -> None:
    """Write all data, in several calls if needed, because an unbuffered file may accept only part of it at once."""
    unwritten = memoryview(data)
    try:
        while unwritten:
            unwritten = unwritten[file.write(unwritten) :]
    except OSError as error:
        raise FullTextError(
            f"A download could not be written to disk: {error.strerror}.", "Check that the disk is not full."
        ) from error


def _require_delivered(answer: Download | int, url: str) -> Download:
    if isinstance(answer, int):
        raise DownloadFailed(f"{make_loggable(url)} returned status {answer}.")
    return answer


def _resolve_redirect(response: ClientResponse, url: URL) -> URL:
    location = response.headers.get("Location", "")
    if not location:
        raise DownloadFailed(f"{make_loggable(url)} redirected without giving a target URL.")
    try:
        return url.join(URL(location))
    except ValueError:
        raise AddressRefused(f"{make_loggable(url)} redirected to an invalid URL.") from None


def describe_network_error(error: ClientError | OSError) -> str:
    """Describe a network error without the URL, which aiohttp includes in some of its messages."""
    if isinstance(error, ClientConnectorCertificateError):
        return f"its certificate is not valid ({error.certificate_error})"
    if isinstance(error, ClientConnectorError):
        return f"no connection ({error.os_error.strerror or error.os_error})"
    if isinstance(error, ServerDisconnectedError):
        return "the server closed the connection"
    if isinstance(error, ClientPayloadError):
        return "the body was cut off or could not be decompressed"
    return (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
