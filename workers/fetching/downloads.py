"""Downloads from addresses that nobody vouches for: guarded at every hop, limited in every measure."""

import asyncio
import ssl
from collections.abc import Collection
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from typing import NamedTuple, Self

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientPayloadError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    ServerDisconnectedError,
)
from yarl import URL

from assayer.errors import AddressRefused, DownloadFailed, DownloadRefused, FullTextError
from assayer.ports import Clock
from workers.fetching.addresses import Policy, shown
from workers.fetching.bodies import Write, receive
from workers.fetching.kinds import Kind
from workers.fetching.metrics import DOWNLOADED_BYTES, DOWNLOADS
from workers.fetching.pacing import HostTurns
from workers.fetching.resolving import Resolver, SystemResolver, guarded_connector
from workers.fetching.robots import Robots
from workers.fetching.settings import DownloadLimits, FetchingSettings

__all__ = ["Download", "Downloader", "said"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BATCH = 1_048_576
"""Bytes handed to the disk at a time."""
_ROBOTS = DownloadLimits(bytes=1_000_000, seconds=20.0, answer_seconds=10.0, patience=10.0)
_NO_TIMEOUTS = ClientTimeout(total=None, sock_connect=None)
"""aiohttp's own are off: each phase has a deadline of ours, with a failure that says which."""


class Download(NamedTuple):
    url: str
    """Where it was found in the end, after redirects."""
    kind: Kind
    charset: str
    """What the server says of a text; empty when it does not."""
    size: int
    sha256: str
    """Of the body as it is kept, unpacked."""


class _Order(NamedTuple):
    wanted: Collection[Kind]
    limits: DownloadLimits
    write: Write
    robots: bool


class Downloader:
    """One for a process, open from `with` to its end. It raises AddressRefused, DownloadRefused, DownloadFailed."""

    def __init__(
        self,
        settings: FetchingSettings,
        clock: Clock,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`tls` brings certificates of its own in place of the machine's; servers are always verified."""
        self._settings = settings
        self._clock = clock
        self._policy = Policy.of(settings)
        self._resolver = resolver or SystemResolver()
        self._tls: ssl.SSLContext | bool = tls or True
        self._at_once = asyncio.Semaphore(settings.connections)
        self._turns = HostTurns(settings.connections_per_host)
        self._robots = Robots(self._read_robots, settings.user_agent, settings.robots_hours, clock)
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = ClientSession(
            connector=guarded_connector(self._policy, self._resolver),
            cookie_jar=DummyCookieJar(),
            headers={"User-Agent": self._settings.user_agent, "Accept-Encoding": "gzip, deflate"},
            timeout=_NO_TIMEOUTS,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def to_file(
        self, url: str, path: Path, wanted: Collection[Kind], limits: DownloadLimits | None = None
    ) -> Download:
        """The body into a new file; a failure leaves none behind. FullTextError itself when the disk is at fault."""
        file = await asyncio.to_thread(path.open, "xb", buffering=0)
        waiting = bytearray()

        async def write(piece: bytes) -> None:
            waiting.extend(piece)
            if len(waiting) >= _BATCH:
                await asyncio.to_thread(_put, file, bytes(waiting))
                waiting.clear()

        order = _Order(wanted, limits or DownloadLimits(), write, robots=False)
        try:
            download = _delivered(await self._follow(url, order), url)
            await asyncio.to_thread(_put, file, bytes(waiting))
        except BaseException:
            path.unlink(missing_ok=True)  # noqa: ASYNC240 - a cancelled task must not wait for a thread
            raise
        finally:
            file.close()
        return download

    async def read(
        self, url: str, wanted: Collection[Kind], limits: DownloadLimits | None = None, *, robots: bool = False
    ) -> tuple[Download, bytes]:
        """The body in memory, for small limits. With `robots`, what a robots.txt closes is refused at every hop."""
        body = bytearray()

        async def write(piece: bytes) -> None:
            body.extend(piece)

        order = _Order(wanted, limits or DownloadLimits(), write, robots)
        return _delivered(await self._follow(url, order), url), bytes(body)

    async def _read_robots(self, url: URL) -> str | None:
        body = bytearray()

        async def write(piece: bytes) -> None:
            body.extend(piece)

        answer = await self._follow(str(url), _Order(("text", "html"), _ROBOTS, write, robots=False))
        if isinstance(answer, int) and not 400 <= answer < 500:
            raise DownloadFailed(f"{shown(url)} answered {answer}.")
        return None if isinstance(answer, int) else body.decode("utf-8", "replace")

    async def _follow(self, text: str, order: _Order) -> Download | int:
        """The delivered body, or the status of an answer that delivers none."""
        try:
            answer = await self._hops(text, order)
        except FullTextError as error:
            DOWNLOADS.labels(type(error).__name__).inc()
            raise
        if isinstance(answer, int):
            DOWNLOADS.labels("absent").inc()
        else:
            DOWNLOADS.labels("delivered").inc()
            DOWNLOADED_BYTES.inc(answer.size)
        return answer

    async def _hops(self, text: str, order: _Order) -> Download | int:
        url, left = self._policy.url(text), order.limits.seconds
        for _ in range(self._settings.redirects + 1):
            if order.robots:
                await self._robots.check(url)
            async with self._turns.turn(url.host or ""), self._at_once:
                started = self._clock.monotonic()
                try:
                    async with asyncio.timeout(left):
                        answer = await self._hop(url, order)
                except TimeoutError:
                    raise DownloadRefused(f"{shown(url)} takes more than {order.limits.seconds:g} s.") from None
                left -= self._clock.monotonic() - started
            if not isinstance(answer, URL):
                return answer
            url = self._policy.url(str(answer))
        raise DownloadRefused(f"{shown(text)} redirects more than {self._settings.redirects} times.")

    async def _hop(self, url: URL, order: _Order) -> Download | URL | int:
        where = shown(url)
        try:
            async with await self._answer(url, order.limits) as response:
                if response.status in _REDIRECTS:
                    return _target(response, url)
                if response.status != HTTPStatus.OK:
                    return response.status
                kind, size, sha256 = await receive(
                    response, where, order.wanted, order.limits, order.write, self._clock
                )
                return Download(str(url), kind, response.charset or "", size, sha256)
        except (ClientError, OSError) as error:
            raise DownloadFailed(f"{where} could not be fetched: {said(error)}.") from error

    async def _answer(self, url: URL, limits: DownloadLimits) -> ClientResponse:
        """Up to the end of the headers."""
        if self._session is None:
            raise RuntimeError("The downloader is not open.")
        try:
            async with asyncio.timeout(limits.answer_seconds):
                return await self._session.get(url, allow_redirects=False, ssl=self._tls)
        except TimeoutError:
            raise DownloadFailed(f"{shown(url)} did not answer within {limits.answer_seconds:g} s.") from None


def _put(file: FileIO, data: bytes) -> None:
    """All of it: an unbuffered file may take less at a time."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError as error:
        raise FullTextError(f"A download cannot be written: {error.strerror}.", "Is the disk full?") from error


def _delivered(answer: Download | int, url: str) -> Download:
    if isinstance(answer, int):
        raise DownloadFailed(f"{shown(url)} answered {answer}.")
    return answer


def _target(response: ClientResponse, url: URL) -> URL:
    location = response.headers.get("Location", "")
    if not location:
        raise DownloadFailed(f"{shown(url)} redirects without saying where to.")
    try:
        return url.join(URL(location))
    except ValueError:
        raise AddressRefused(f"{shown(url)} redirects to an address that is no URL.") from None


def said(error: ClientError | OSError) -> str:
    """Without the URL that aiohttp puts into some of its messages."""
    if isinstance(error, ClientConnectorCertificateError):
        return f"its certificate is not valid ({error.certificate_error})"
    if isinstance(error, ClientConnectorError):
        return f"no connection ({error.os_error.strerror or error.os_error})"
    if isinstance(error, ServerDisconnectedError):
        return "the server closed the connection"
    if isinstance(error, ClientPayloadError):
        return "the body broke off or cannot be unpacked"
    return (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
