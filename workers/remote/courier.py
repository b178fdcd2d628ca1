"""Carries every call to a remote source: once for all who ask the same, across processes too, and from the shared
cache when it has been answered before."""

import asyncio
import datetime as dt
import logging
import uuid
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Literal, Self

from assayer.errors import (
    AssayerError,
    Defect,
    SourceBusy,
    SourceRefused,
    SourceUnavailable,
    StorageError,
)
from assayer.models.remote import KeptReply
from assayer.ports import Clock
from workers.remote.address import Address
from workers.remote.bucket import Limits
from workers.remote.call import Ask, Call, Reply
from workers.remote.clerk import Clerk
from workers.remote.desk import Desk
from workers.remote.flight import Flight
from workers.remote.lookout import Lookout
from workers.remote.metrics import CACHE_HITS, FAILURES
from workers.remote.replies import Replies
from workers.remote.settings import SourceSettings
from workers.remote.transport import open_session
from workers.remote.turns import TurnKeeper, Turns

__all__ = ["Courier"]

_LOG = logging.getLogger(__name__)

_RENEWALS = 3
"""Of a claim, before it would expire."""
_LOOK_SECONDS = 0.25
"""Between two looks at what other processes are asking for."""
_IMPATIENCE_SECONDS = 1.0
"""Between two looks at the patience of those who wait for another process."""
_PURGE_SECONDS = 600.0
_PURGE_BATCH = 500
_RELEASE_SECONDS = 2.0
_STORE_CALLS = 4
"""At once on the cache, so that turns never wait for a connection to the database behind a crowd of them."""
_STOPPING = SourceUnavailable("The program is stopping.")


class Courier:
    """Implements `workers.remote.Remote`. Use as an async context manager."""

    def __init__(
        self,
        sources: Mapping[str, SourceSettings],
        replies: Replies,
        turns: Turns,
        clock: Clock,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        claim_seconds: float = 10.0,
    ) -> None:
        """`sources` by name; those without a base URL are off. `claim_seconds`: after so long without a sign of life
        another process asks for what this one was asking for."""
        self._sources = {name: settings for name, settings in sources.items() if settings.base_url is not None}
        self._replies = replies
        self._turns = turns
        self._clock = clock
        self._new_id = new_id
        self._claim_seconds = claim_seconds
        self._desks: dict[str, Desk] = {}
        self._flights: dict[str, Flight] = {}
        self._tasks: dict[Flight, asyncio.Task[None]] = {}
        self._claims: set[str] = set()
        self._store_calls = asyncio.Semaphore(_STORE_CALLS)
        self._lookout = Lookout(replies, _LOOK_SECONDS)
        self._group = asyncio.TaskGroup()
        self._staff: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._session = open_session()
        process = self._new_id()
        for name, settings in self._sources.items():
            address = Address(name, settings, settings.base_url or "")
            keeper = TurnKeeper(self._turns, address.bucket, _limits(settings), self._clock)
            clerk = Clerk(keeper, name, process, self._new_id)
            self._desks[name] = Desk(name, settings, address, clerk, self._session, self._clock)
            self._staff.append(self._group.create_task(clerk.run()))
        self._staff.append(self._group.create_task(self._lookout.run()))
        self._staff.append(self._group.create_task(self._keep_house()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        flights = list(self._tasks.values())
        for task in flights:
            task.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        for flight in tuple(self._flights.values()):
            flight.fail(_STOPPING)  # its task was cancelled before it had begun
        for task in self._staff:
            task.cancel()
        await asyncio.gather(*self._staff, return_exceptions=True)
        await asyncio.gather(*(desk.clerk.farewell() for desk in self._desks.values()))
        await self._session.close()
        await self._group.__aexit__(kind, error, trace)

    async def fetch(self, call: Call, ask: Ask) -> Reply:
        """As `Remote.fetch`; who is cancelled cancels nobody else."""
        desk = self._desks.get(call.source)
        if desk is None:
            raise SourceUnavailable(f"{call.source} is off.", "It is on when its base URL is set.")
        key = desk.address.cache_key(call)
        flight = self._flights.get(key)
        shared = flight is not None
        if flight is None:
            flight = self._take_off(key, call, desk)
        seat = flight.board(ask, self._clock.monotonic())
        desk.clerk.sit(seat)
        try:
            reply = await seat.answer
        except AssayerError as error:
            FAILURES.labels(call.source, _cause(error)).inc()
            raise
        finally:
            desk.clerk.rise(seat)
            flight.leave(seat)
        if shared:
            CACHE_HITS.labels(call.source, "shared").inc()
        return reply

    def _take_off(self, key: str, call: Call, desk: Desk) -> Flight:
        flight = Flight(key, call, desk.settings.price(call.operation), lambda: self._abandon(flight))
        self._flights[key] = flight
        task = self._group.create_task(self._fly(flight, desk))
        self._tasks[flight] = task
        task.add_done_callback(lambda _: self._tasks.pop(flight))
        return flight

    def _abandon(self, flight: Flight) -> None:
        """Nobody waits for it any more."""
        self._land(flight)
        if flight in self._tasks:
            self._tasks[flight].cancel()

    def _land(self, flight: Flight) -> None:
        """From now on the same call is a new flight, or in the cache."""
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]

    async def _fly(self, flight: Flight, desk: Desk) -> None:
        try:
            reply = await self._obtain(flight, desk)
        except asyncio.CancelledError:
            self._land(flight)
            flight.fail(_STOPPING)
            raise
        except AssayerError as error:
            self._land(flight)
            flight.fail(error)
        except Exception as error:  # noqa: BLE001 - a defect of ours ends this call, and no other
            _LOG.exception("%s %s", flight.call.source, flight.call.operation)
            self._land(flight)
            flight.fail(Defect(f"assayer failed to ask {flight.call.source}: {type(error).__name__}."))
        else:
            self._land(flight)
            flight.deliver(reply)

    async def _obtain(self, flight: Flight, desk: Desk) -> Reply:
        lifetime = desk.settings.lifetime if flight.call.lifetime is None else flight.call.lifetime
        claimant = self._new_id()
        self._claims.add(claimant)
        try:
            kept = await self._claim(flight, desk, claimant, lifetime)
            if kept is not None:
                CACHE_HITS.labels(flight.call.source, "stored").inc()
                return Reply(kept.status, kept.body, kept.fetched_at, cached=True)
            answer = await desk.ask(flight)
            status: Literal[200, 404] = 200 if answer.status == 200 else 404
            kept = KeptReply(flight.call.source, status, answer.body, self._clock.now())
            async with self._store_calls:
                await self._replies.keep(flight.key, kept, lifetime)
            return Reply(status, kept.body, kept.fetched_at, cached=False)
        except BaseException:
            await self._release(flight, claimant)
            raise
        finally:
            self._claims.discard(claimant)

    async def _claim(self, flight: Flight, desk: Desk, claimant: str, lifetime: dt.timedelta) -> KeptReply | None:
        """The reply that is there, or once nobody else is asking for it any more, None: it is for us to ask."""
        while True:
            async with self._store_calls:
                found = await self._replies.claim(flight.key, lifetime, claimant, self._claim_seconds)
            if isinstance(found, KeptReply):
                return found
            if found == "claimed":
                return None
            await self._watch(flight, desk)

    async def _release(self, flight: Flight, claimant: str) -> None:
        """What does not get through expires."""
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                await self._replies.release(flight.key, claimant)
        except (TimeoutError, StorageError) as error:
            _LOG.warning("a claim on an answer of %s was not released: %s", flight.call.source, error)

    async def _watch(self, flight: Flight, desk: Desk) -> None:
        """While another process asks: until it is done, as long as each asker's patience and one answer last."""
        with self._lookout.watching(flight.key) as settled:
            while not settled.done():
                await asyncio.wait([settled], timeout=_IMPATIENCE_SECONDS)
                now = self._clock.monotonic()
                for seat in flight:
                    if now - seat.since > seat.patience + desk.settings.answer_seconds:
                        seat.refuse(_still_asking(flight.call.source, now - seat.since))
            settled.result()

    async def _keep_house(self) -> None:
        purge_at = self._clock.monotonic() + _PURGE_SECONDS
        while True:
            await asyncio.sleep(self._claim_seconds / _RENEWALS)
            try:
                if self._claims:
                    await self._replies.renew(list(self._claims), self._claim_seconds)
                if self._clock.monotonic() >= purge_at:
                    purge_at += _PURGE_SECONDS
                    while await self._replies.purge(_PURGE_BATCH) == _PURGE_BATCH:
                        continue
            except StorageError as error:
                _LOG.warning("the cache of remote sources cannot be looked after: %s", error)


def _limits(settings: SourceSettings) -> Limits:
    return Limits(
        spacing=settings.spacing_seconds,
        transit=settings.transit_seconds,
        connections=settings.connections,
        daily_budget=settings.daily_budget,
        send_within=settings.connect_seconds + 1.0,
        answer_within=settings.answer_seconds + 1.0,
    )


def _still_asking(source: str, seconds: float) -> SourceBusy:
    return SourceBusy(
        f"Another process has been asking {source} the same for {seconds:.0f} s.",
        "Evaluate fewer ideas at once, or give them more time.",
    )


def _cause(error: AssayerError) -> str:
    match error:
        case SourceUnavailable():
            return "unavailable"
        case SourceBusy():
            return "busy"
        case SourceRefused():
            return "refused"
        case StorageError():
            return "storage"
        case _:
            return "defect"
