"""Pool of GROBID servers. The least loaded server gets the next document, and a document whose server fails is sent to
another."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from assayer.errors import ConfigurationError, ParserUnavailable, Unreadable
from workers.full_texts import grobid_client
from workers.full_texts.grobid_client import (
    AiohttpGrobidTransport,
    GrobidBroken,
    GrobidBusy,
    GrobidEmpty,
    GrobidOutcome,
    GrobidRefused,
    GrobidTei,
    GrobidTransport,
)
from workers.full_texts.metrics import GROBID_ANSWERS, GROBID_UP
from workers.full_texts.settings import GrobidSettings
from workers.outbound.priority_gate import Place, PriorityGate


@dataclass
class _Server:
    url: str
    is_up: bool = True
    busy_slots: int = 0
    documents: int = 0
    resting_until: list[float] = field(default_factory=list)
    """Times at which the resting slots can be used again."""
    refusals: int = 0
    """Number of consecutive 503 responses."""


class GrobidLoadBalancer:
    """Chooses the server for the next document. Each of a server's slots is free, busy with a document, or resting
    after a 503. All times are from one monotonic clock."""

    def __init__(self, urls: Sequence[str], slots: int, pause: float, max_pause: float) -> None:
        self._servers = {url: _Server(url) for url in urls}
        self._slots = slots
        self._pause = pause
        self._max_pause = max_pause

    @property
    def has_available_server(self) -> bool:
        return any(server.is_up for server in self._servers.values())

    @property
    def available_urls(self) -> tuple[str, ...]:
        return tuple(server.url for server in self._servers.values() if server.is_up)

    def acquire(self, now: float, avoid: Collection[str] = ()) -> str | None:
        """Take a slot on the least loaded server and return its URL; None if no slot is free. A server in `avoid` is
        chosen only if no other server has a free slot."""
        free_servers = [
            server
            for server in self._servers.values()
            if server.is_up and self._compute_load(server, now) < self._slots
        ]
        if not free_servers:
            return None
        best = min(
            free_servers, key=lambda server: (server.url in avoid, self._compute_load(server, now), server.documents)
        )
        best.busy_slots += 1
        best.documents += 1
        return best.url

    def find_next_change(self, now: float) -> float | None:
        """Return the time at which the first resting slot can be used again; None if no slot is resting."""
        ends = (end for server in self._servers.values() if server.is_up for end in server.resting_until)
        return min((end for end in ends if end > now), default=None)

    def release(self, url: str) -> None:
        """Free the slot of a document for which the server returned no response."""
        self._servers[url].busy_slots -= 1

    def mark_answered(self, url: str) -> None:
        self._servers[url].busy_slots -= 1
        self._servers[url].refusals = 0

    def mark_busy(self, url: str, now: float) -> None:
        """Record a 503, which occurs if other clients use the server too. The slot rests for a time that doubles with
        each consecutive 503."""
        server = self._servers[url]
        server.busy_slots -= 1
        server.resting_until.append(now + min(self._max_pause, self._pause * 2 ** min(server.refusals, 30)))
        server.refusals += 1

    def mark_down(self, url: str) -> bool:
        """Take the server out of the pool until `mark_up`; return whether it was in the pool. Busy slots stay busy
        until they are released."""
        server = self._servers[url]
        was_up, server.is_up = server.is_up, False
        return was_up

    def mark_up(self, url: str) -> None:
        server = self._servers[url]
        server.is_up = True
        server.resting_until.clear()
        server.refusals = 0

    def _compute_load(self, server: _Server, now: float) -> int:
        server.resting_until = [end for end in server.resting_until if end > now]
        return server.busy_slots + len(server.resting_until)


_LOG = logging.getLogger(__name__)


class GrobidPool:
    """Pool of GROBID servers. It is the `SlotSource` of its own gate, and runs one probing task per unavailable server.
    Use it as an async context manager, in one event loop."""

    def __init__(self, settings: GrobidSettings) -> None:
        if not settings.urls:
            raise ConfigurationError("No GROBID server is configured.", "Set ASSAYER_GROBID__URLS.")
        self._settings = settings
        self._balancer = GrobidLoadBalancer(
            settings.urls, settings.slots, settings.busy_seconds, settings.busy_seconds_max
        )
        self._session: ClientSession | None = None
        self._transport: GrobidTransport | None = None
        self._arrivals = count()
        self._outage_since: float | None = None
        """When the last available server went down; None while a server is available."""
        self._gate = PriorityGate(self)
        self._recoveries: set[asyncio.Task[None]] = set()
        self._version: str | None = None
        self._version_lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        for url in self._settings.urls:
            GROBID_UP.labels(url).set(1)
        self._session = ClientSession(
            connector=TCPConnector(limit=0, keepalive_timeout=4.0),
            timeout=ClientTimeout(total=None, sock_connect=self._settings.alive_seconds),
            cookie_jar=DummyCookieJar(),
        )
        self._transport = _create_transport(self._settings, self._session)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._gate.close()
        for task in self._recoveries:
            task.cancel()
        await asyncio.gather(*self._recoveries, return_exceptions=True)
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @property
    def _open_session(self) -> ClientSession:
        if self._session is None:
            raise RuntimeError("The GROBID pool is not open.")
        return self._session

    def acquire(self, avoid: Collection[str]) -> str | None:
        """Take a slot and return its server; None if no slot is free. Called by the gate. Raises ParserUnavailable if
        all servers have been down for `outage_seconds`."""
        now = asyncio.get_running_loop().time()
        if self._outage_since is not None and now - self._outage_since >= self._settings.outage_seconds:
            raise ParserUnavailable(
                "No GROBID server can be reached.", "Check that the servers in ASSAYER_GROBID__URLS are running."
            )
        return self._balancer.acquire(now, avoid)

    def release(self, slot: str) -> None:
        self._balancer.release(slot)

    def get_seconds_to_change(self) -> float | None:
        now = asyncio.get_running_loop().time()
        outage_ends = None if self._outage_since is None else self._outage_since + self._settings.outage_seconds
        moments = (moment for moment in (self._balancer.find_next_change(now), outage_ends) if moment is not None)
        return min((moment - now for moment in moments), default=None)

    async def parse(self, pdf: bytes, source: str, seconds: float) -> bytes:
        """Return the document's TEI. Raises Unreadable if GROBID cannot read the document, and ParserUnavailable if no
        server is reachable or none reads it within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                return _require_tei(await self._parse_on_some_server(pdf, source), source)
        except TimeoutError:
            raise ParserUnavailable(
                f"GROBID did not read {source} within {seconds:.0f} s.", "Add servers, or increase their slots."
            ) from None

    async def _parse_on_some_server(self, pdf: bytes, source: str) -> GrobidTei | GrobidEmpty | GrobidRefused:
        """Send a document until a server returns a result for it. Documents get slots in order of arrival; a document
        that is sent again keeps its place."""
        arrival = next(self._arrivals)
        failed_urls: list[str] = []
        avoid: list[str] = []
        while True:
            url = await self._gate.acquire(Place(arrival, avoid=avoid))
            outcome = await self._send(url, pdf)
            if isinstance(outcome, GrobidBroken):
                failed_urls.append(url)
                if len(failed_urls) >= self._settings.attempts:
                    raise _build_failures_error(source, len(failed_urls), outcome)
            elif not isinstance(outcome, GrobidBusy):
                return outcome
            avoid = [*failed_urls, url]

    async def get_version(self) -> str | None:
        """Return the version of the first server that responds; None if none does."""
        async with self._version_lock:
            for url in self._balancer.available_urls if self._version is None else ():
                self._version = await grobid_client.fetch_version(self._open_session, url, self._settings.alive_seconds)
                if self._version is not None:
                    break
                self._remove_server(url, "it does not report its version")
            return self._version

    async def check_servers(self) -> dict[str, bool]:
        """Check whether each server is alive; return the results by URL."""
        urls = self._settings.urls
        answers = (grobid_client.is_alive(self._open_session, url, self._settings.alive_seconds) for url in urls)
        return dict(zip(urls, await asyncio.gather(*answers), strict=True))

    async def _send(self, url: str, pdf: bytes) -> GrobidOutcome:
        """Send the document, and report the outcome to the load balancer."""
        session = self._open_session
        transport = self._transport or AiohttpGrobidTransport(session)
        try:
            outcome = await grobid_client.send_document(transport, session, url, pdf, self._settings)
        except BaseException:
            self._gate.release(url)
            raise
        GROBID_ANSWERS.labels(url, grobid_client.OUTCOME_LABELS[type(outcome)]).inc()
        if isinstance(outcome, GrobidBusy):
            self._balancer.mark_busy(url, asyncio.get_running_loop().time())
        elif isinstance(outcome, GrobidBroken):
            self._balancer.release(url)
            self._remove_server(url, outcome.detail)
        else:
            self._balancer.mark_answered(url)
        self._gate.admit()
        return outcome

    def _remove_server(self, url: str, reason: str) -> None:
        """Take a server out of the pool until a liveness check succeeds."""
        if not self._balancer.mark_down(url):
            return
        GROBID_UP.labels(url).set(0)
        _LOG.warning("GROBID server %s is removed from the pool: %s", url, reason)
        if not self._balancer.has_available_server:
            self._outage_since = asyncio.get_running_loop().time()
        task = asyncio.create_task(self._recover(url))
        self._recoveries.add(task)
        task.add_done_callback(self._recoveries.discard)

    async def _recover(self, url: str) -> None:
        while True:
            if await grobid_client.is_alive(self._open_session, url, self._settings.alive_seconds):
                break
            await asyncio.sleep(self._settings.recover_seconds)
        _LOG.info("GROBID server %s is back in the pool", url)
        GROBID_UP.labels(url).set(1)
        self._balancer.mark_up(url)
        self._outage_since = None
        self._version = None
        self._gate.admit()


def _create_transport(settings: GrobidSettings, session: ClientSession) -> GrobidTransport:
    """Return the transport selected in the settings. Raises ModuleNotFoundError if GROBID's own client is configured
    but not installed."""
    if settings.client == "aiohttp":
        return AiohttpGrobidTransport(session)
    null_handler = logging.NullHandler()
    logging.root.addHandler(null_handler)  # without a root handler, importing the client would configure logging
    try:
        from workers.full_texts.grobid_official_client import OfficialGrobidTransport
    finally:
        logging.root.removeHandler(null_handler)
    return OfficialGrobidTransport(settings)


def _require_tei(outcome: GrobidTei | GrobidEmpty | GrobidRefused, source: str) -> bytes:
    if isinstance(outcome, GrobidTei):
        return outcome.body
    if isinstance(outcome, GrobidEmpty):
        raise Unreadable(f"GROBID found no text in {source}.", "It may be a scan.", "no_text")
    raise Unreadable(f"GROBID could not process {source}: {outcome.detail}.", "", outcome.cause)


def _build_failures_error(source: str, failures: int, last_failure: GrobidBroken) -> Unreadable:
    message = f"GROBID servers failed {failures} times on {source}. Last failure: {last_failure.detail}."
    return Unreadable(message, "Read it without GROBID.", "broken_parser")
