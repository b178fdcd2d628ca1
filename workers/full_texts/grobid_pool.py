"""Several GROBID servers as one: the least loaded reads the next document, and none is lost to a server that fails."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from assayer.errors import ConfigurationError, ParserUnavailable, Unreadable
from workers.concurrency.priority_gate import PriorityGate
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

__all__ = ["GrobidLoadBalancer", "GrobidPool"]


@dataclass
class _Server:
    url: str
    up: bool = True
    busy: int = 0
    served: int = 0
    resting_until: list[float] = field(default_factory=list)
    """Moments at which its resting slots may be used again."""
    refusals: int = 0
    """503s in a row."""


class GrobidLoadBalancer:
    """Chooses the server of the next document. A server's slots are free, busy with a document, or resting after a 503.
    Times are of one monotonic clock."""

    def __init__(self, urls: Sequence[str], slots: int, rest: float, longest_rest: float) -> None:
        self._servers = {url: _Server(url) for url in urls}
        self._slots = slots
        self._pause = rest
        self._max_pause = longest_rest

    @property
    def any_up(self) -> bool:
        return any(server.up for server in self._servers.values())

    @property
    def up(self) -> tuple[str, ...]:
        return tuple(server.url for server in self._servers.values() if server.up)

    def acquire(self, now: float, avoid: Collection[str] = ()) -> str | None:
        """The least loaded server with a free slot, one of `avoid` only if no other has; None when none has."""
        free = [server for server in self._servers.values() if server.up and self._load(server, now) < self._slots]
        if not free:
            return None
        best = min(free, key=lambda server: (server.url in avoid, self._load(server, now), server.served))
        best.busy += 1
        best.served += 1
        return best.url

    def next_change(self, now: float) -> float | None:
        """When the first resting slot of a server that is up may be used again."""
        ends = (end for server in self._servers.values() if server.up for end in server.resting_until)
        return min((end for end in ends if end > now), default=None)

    def release(self, url: str) -> None:
        """The document was taken back unread."""
        self._servers[url].busy -= 1

    def mark_answered(self, url: str) -> None:
        self._servers[url].busy -= 1
        self._servers[url].refusals = 0

    def mark_busy(self, url: str, now: float) -> None:
        """503: another client uses the server too. One slot rests, twice as long each time in a row."""
        server = self._servers[url]
        server.busy -= 1
        server.resting_until.append(now + min(self._max_pause, self._pause * 2 ** min(server.refusals, 30)))
        server.refusals += 1

    def mark_down(self, url: str) -> bool:
        """Out of the pool until `mark_up`; whether it was in it. Slots are given back apart."""
        server = self._servers[url]
        was_up, server.up = server.up, False
        return was_up

    def mark_up(self, url: str) -> None:
        server = self._servers[url]
        server.up = True
        server.resting_until.clear()
        server.refusals = 0

    def _load(self, server: _Server, now: float) -> int:
        server.resting_until = [end for end in server.resting_until if end > now]
        return server.busy + len(server.resting_until)


_LOG = logging.getLogger(__name__)


class _ServerSlots:
    """Implements `workers.concurrency.priority_gate.SlotSource`, until all servers have been out for too long."""

    def __init__(self, balancer: GrobidLoadBalancer, outage_seconds: float) -> None:
        self._balancer = balancer
        self._outage_seconds = outage_seconds
        self.out_since: float | None = None
        """Since when no server is up."""

    def acquire(self, avoid: Collection[str]) -> str | None:
        """Raises ParserUnavailable."""
        now = asyncio.get_running_loop().time()
        if self.out_since is not None and now - self.out_since >= self._outage_seconds:
            raise ParserUnavailable("No GROBID server is in reach.", "Check that they run and ASSAYER_GROBID__URLS.")
        return self._balancer.acquire(now, avoid)

    def release(self, slot: str) -> None:
        self._balancer.release(slot)

    def next_change(self) -> float | None:
        now = asyncio.get_running_loop().time()
        moments = [self._balancer.next_change(now)]
        if self.out_since is not None:
            moments.append(self.out_since + self._outage_seconds)
        moment = min((one for one in moments if one is not None), default=None)
        return None if moment is None else moment - now


class GrobidPool:
    """Belongs to one event loop, from `async with` to its end. It owns one task for each server that is out."""

    def __init__(self, settings: GrobidSettings) -> None:
        if not settings.urls:
            raise ConfigurationError("No GROBID server is set.", "Set ASSAYER_GROBID__URLS.")
        self._settings = settings
        self._balancer = GrobidLoadBalancer(
            settings.urls, settings.slots, settings.busy_seconds, settings.busy_seconds_max
        )
        self._session: ClientSession | None = None
        self._transport: GrobidTransport | None = None
        self._arrivals = count()
        self._slots = _ServerSlots(self._balancer, settings.outage_seconds)
        self._gate = PriorityGate(self._slots)
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
        self._transport = _transport(self._settings, self._session)
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

    async def parse(self, pdf: bytes, source: str, seconds: float) -> bytes:
        """The document's TEI, within `seconds`. Raises Unreadable when the document is at fault, ParserUnavailable
        when no server had a slot in time or all are out of reach."""
        try:
            async with asyncio.timeout(seconds):
                return _tei(await self._parse_on_some_server(pdf, source), source)
        except TimeoutError:
            raise ParserUnavailable(
                f"GROBID did not read {source} within {seconds:.0f} s.", "Add servers, or raise their slots."
            ) from None

    async def _parse_on_some_server(self, pdf: bytes, source: str) -> GrobidTei | GrobidEmpty | GrobidRefused:
        """Sends a document until a server has an opinion about it. Documents have slots in the order of arrival, those
        that are sent again before younger ones."""
        arrival = next(self._arrivals)
        broke: list[str] = []
        avoid: list[str] = []
        while True:
            url = await self._gate.acquire(priority=arrival, avoid=avoid)
            outcome = await self._send(url, pdf)
            if isinstance(outcome, GrobidBroken):
                broke.append(url)
                if len(broke) >= self._settings.attempts:
                    raise _too_many_failures(source, len(broke), outcome)
            elif not isinstance(outcome, GrobidBusy):
                return outcome
            avoid = [*broke, url]

    async def version(self) -> str | None:
        """Of the first server that answers; None while none does."""
        async with self._version_lock:
            for url in self._balancer.up if self._version is None else ():
                self._version = await grobid_client.server_version(
                    self._open_session, url, self._settings.alive_seconds
                )
                if self._version is not None:
                    break
                self._remove_server(url, "it does not tell its version")
            return self._version

    async def alive(self) -> dict[str, bool]:
        """Of each server, asked now."""
        urls = self._settings.urls
        answers = (grobid_client.is_alive(self._open_session, url, self._settings.alive_seconds) for url in urls)
        return dict(zip(urls, await asyncio.gather(*answers), strict=True))

    async def _send(self, url: str, pdf: bytes) -> GrobidOutcome:
        """Sends, and tells the load balancer how it ended, whatever happens."""
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

    def _remove_server(self, url: str, why: str) -> None:
        """Out of the pool until it says that it is alive."""
        if not self._balancer.mark_down(url):
            return
        GROBID_UP.labels(url).set(0)
        _LOG.warning("GROBID server %s leaves the pool: %s", url, why)
        if not self._balancer.any_up:
            self._slots.out_since = asyncio.get_running_loop().time()
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
        self._slots.out_since = None
        self._version = None
        self._gate.admit()


def _transport(settings: GrobidSettings, session: ClientSession) -> GrobidTransport:
    """Raises ModuleNotFoundError where GROBID's own client is asked for and not installed."""
    if settings.client == "aiohttp":
        return AiohttpGrobidTransport(session)
    handled = logging.NullHandler()
    logging.root.addHandler(handled)  # the client sets up logging when it is imported, where nobody has
    try:
        from workers.full_texts.grobid_official_client import OfficialGrobidTransport
    finally:
        logging.root.removeHandler(handled)
    return OfficialGrobidTransport(settings)


def _tei(outcome: GrobidTei | GrobidEmpty | GrobidRefused, source: str) -> bytes:
    if isinstance(outcome, GrobidTei):
        return outcome.body
    if isinstance(outcome, GrobidEmpty):
        raise Unreadable(f"GROBID found nothing in {source}.", "It may be a scan.", "no_text")
    raise Unreadable(f"GROBID refused {source}: {outcome.detail}.", "", outcome.cause)


def _too_many_failures(source: str, times: int, last: GrobidBroken) -> Unreadable:
    message = f"{times} GROBID servers broke down over {source}; the last: {last.detail}."
    return Unreadable(message, "Read it without GROBID.", "broken_parser")
