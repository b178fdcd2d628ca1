"""Several GROBID servers as one: the least loaded reads the next document, and none is lost to a server that fails."""

import asyncio
import heapq
import logging
from collections.abc import Collection
from itertools import count
from typing import NamedTuple, Self

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from assayer.errors import ConfigurationError, ParserUnavailable, Unreadable
from workers.full_texts import grobid
from workers.full_texts.grobid import Broken, Busy, Empty, Outcome, Refused, Tei
from workers.full_texts.metrics import GROBID_ANSWERS, GROBID_UP
from workers.full_texts.roster import Roster
from workers.full_texts.settings import GrobidSettings

__all__ = ["GrobidPool"]

_LOG = logging.getLogger(__name__)


class _Waiter(NamedTuple):
    arrival: int
    """Documents are served in the order in which they came, those that are sent again before younger ones."""
    turn: asyncio.Future[str]
    avoid: Collection[str]


class GrobidPool:
    """Belongs to one event loop, from `async with` to its end. It owns one task for each server that is out."""

    def __init__(self, settings: GrobidSettings) -> None:
        if not settings.urls:
            raise ConfigurationError("No GROBID server is set.", "Set ASSAYER_GROBID__URLS.")
        self._settings = settings
        self._roster = Roster(settings.urls, settings.slots, settings.busy_seconds, settings.busy_seconds_max)
        self._session: ClientSession | None = None
        self._arrivals = count()
        self._line: list[_Waiter] = []
        self._timer: asyncio.TimerHandle | None = None
        self._recoveries: set[asyncio.Task[None]] = set()
        self._out_since: float | None = None
        self._version: str | None = None
        self._asking = asyncio.Lock()

    async def __aenter__(self) -> Self:
        for url in self._settings.urls:
            GROBID_UP.labels(url).set(1)
        self._session = ClientSession(
            connector=TCPConnector(limit=0, keepalive_timeout=4.0),
            timeout=ClientTimeout(total=None, sock_connect=self._settings.alive_seconds),
            cookie_jar=DummyCookieJar(),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
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
                return _tei(await self._settled(pdf, source), source)
        except TimeoutError:
            raise ParserUnavailable(
                f"GROBID did not read {source} within {seconds:.0f} s.", "Add servers, or raise their slots."
            ) from None

    async def _settled(self, pdf: bytes, source: str) -> Tei | Empty | Refused:
        """Sends a document until a server has an opinion about it."""
        arrival = next(self._arrivals)
        broke: list[str] = []
        avoid: list[str] = []
        while True:
            url = await self._take(arrival, avoid)
            outcome = await self._send(url, pdf)
            if isinstance(outcome, Broken):
                broke.append(url)
                if len(broke) >= self._settings.attempts:
                    raise _given_up(source, len(broke), outcome)
            elif not isinstance(outcome, Busy):
                return outcome
            avoid = [*broke, url]

    async def version(self) -> str | None:
        """Of the first server that tells; None while none is in reach."""
        async with self._asking:
            for url in self._roster.up if self._version is None else ():
                self._version = await grobid.version_of(self._open_session, url, self._settings.alive_seconds)
                if self._version is not None:
                    break
                self._take_out(url, "it does not tell its version")
            return self._version

    async def alive(self) -> dict[str, bool]:
        """Of each server, asked now."""
        urls = self._settings.urls
        answers = (grobid.is_alive(self._open_session, url, self._settings.alive_seconds) for url in urls)
        return dict(zip(urls, await asyncio.gather(*answers), strict=True))

    async def _send(self, url: str, pdf: bytes) -> Outcome:
        """Sends and keeps the roster's books, whatever happens."""
        try:
            outcome = await grobid.send(self._open_session, url, pdf, self._settings)
        except BaseException:
            self._roster.released(url)
            self._serve()
            raise
        GROBID_ANSWERS.labels(url, type(outcome).__name__.lower()).inc()
        if isinstance(outcome, Busy):
            self._roster.refused(url, asyncio.get_running_loop().time())
        elif isinstance(outcome, Broken):
            self._roster.released(url)
            self._take_out(url, outcome.detail)
        else:
            self._roster.answered(url)
        self._serve()
        return outcome

    async def _take(self, arrival: int, avoid: Collection[str]) -> str:
        """A slot, in the order of arrivals."""
        waiter = _Waiter(arrival, asyncio.get_running_loop().create_future(), avoid)
        heapq.heappush(self._line, waiter)
        self._serve()
        try:
            return await waiter.turn
        except asyncio.CancelledError:
            self._leave(waiter)
            raise

    def _leave(self, waiter: _Waiter) -> None:
        if waiter in self._line:
            self._line.remove(waiter)
            heapq.heapify(self._line)
        elif waiter.turn.done() and not waiter.turn.cancelled() and waiter.turn.exception() is None:
            self._roster.released(waiter.turn.result())
            self._serve()

    def _serve(self) -> None:
        """Hands out what is free, and sets the alarm for what comes free by itself."""
        now = asyncio.get_running_loop().time()
        if self._out_since is not None and now - self._out_since >= self._settings.outage_seconds:
            self._refuse_all()
        while self._line:
            if self._line[0].turn.done():
                heapq.heappop(self._line)
                continue
            url = self._roster.take(now, self._line[0].avoid)
            if url is None:
                break
            heapq.heappop(self._line).turn.set_result(url)
        self._set_alarm(now)

    def _set_alarm(self, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._line or self._session is None:
            return
        moments = [self._roster.next_change(now)]
        if self._out_since is not None:
            moments.append(self._out_since + self._settings.outage_seconds)
        moment = min((one for one in moments if one is not None), default=None)
        if moment is not None:
            self._timer = asyncio.get_running_loop().call_at(moment, self._serve)

    def _refuse_all(self) -> None:
        for waiter in self._line:
            if not waiter.turn.done():
                waiter.turn.set_exception(
                    ParserUnavailable("No GROBID server is in reach.", "Check that they run and ASSAYER_GROBID__URLS.")
                )
        self._line.clear()

    def _take_out(self, url: str, why: str) -> None:
        """Out of the pool until it says that it is alive."""
        if not self._roster.broke(url):
            return
        GROBID_UP.labels(url).set(0)
        _LOG.warning("GROBID server %s leaves the pool: %s", url, why)
        if not self._roster.any_up:
            self._out_since = asyncio.get_running_loop().time()
        task = asyncio.create_task(self._recover(url))
        self._recoveries.add(task)
        task.add_done_callback(self._recoveries.discard)

    async def _recover(self, url: str) -> None:
        while True:
            if await grobid.is_alive(self._open_session, url, self._settings.alive_seconds):
                break
            await asyncio.sleep(self._settings.recover_seconds)
        _LOG.info("GROBID server %s is back in the pool", url)
        GROBID_UP.labels(url).set(1)
        self._roster.revived(url)
        self._out_since = None
        self._version = None
        self._serve()


def _tei(outcome: Tei | Empty | Refused, source: str) -> bytes:
    if isinstance(outcome, Tei):
        return outcome.body
    if isinstance(outcome, Empty):
        raise Unreadable(f"GROBID found nothing in {source}.", "It may be a scan.", "no_text")
    raise Unreadable(f"GROBID refused {source}: {outcome.detail}.", "", outcome.cause)


def _given_up(source: str, times: int, last: Broken) -> Unreadable:
    message = f"{times} GROBID servers broke down over {source}; the last: {last.detail}."
    return Unreadable(message, "Read it without GROBID.", "broken_parser")
