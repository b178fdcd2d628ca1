"""Carries every request to a remote source: once for all who make the same, across processes too, and from the shared
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
    said_by,
)
from assayer.models.remote import CachedResponse
from assayer.ports import Clock
from workers.concurrency.claims import ClaimPoller
from workers.concurrency.single_flight import InFlight, SingleFlight
from workers.remote.client import SourceClient
from workers.remote.metrics import CACHE_HITS, FAILURES
from workers.remote.rate_limit import RateLimits, RateLimitStore, SharedRateLimit
from workers.remote.request import RequestContext, RequestWaiter, SourceRequest, SourceResponse, out_of_time
from workers.remote.response_cache import ResponseCache
from workers.remote.settings import SourceSettings
from workers.remote.transport import SourceEndpoint, open_session
from workers.remote.turn_scheduler import TurnScheduler

__all__ = ["SourceGateway"]

_LOG = logging.getLogger(__name__)

_RENEWALS = 3
"""Of a claim, before it would expire."""
_POLL_SECONDS = 0.25
"""Between two looks at what other processes are asking for."""
_IMPATIENCE_SECONDS = 1.0
"""Between two looks at the patience of those who wait for another process."""
_PURGE_SECONDS = 600.0
_PURGE_BATCH = 500
_RELEASE_SECONDS = 2.0
_CACHE_CALLS = 4
"""At once on the cache, so that rate limits never wait for a connection to the database behind a crowd of them."""
_STOPPING = SourceUnavailable("The program is stopping.")


class SourceGateway:
    """Implements `workers.remote.request.SourceFetcher`. Use as an async context manager."""

    def __init__(
        self,
        sources: Mapping[str, SourceSettings],
        cache: ResponseCache,
        rate_limits: RateLimitStore,
        clock: Clock,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        claim_seconds: float = 10.0,
    ) -> None:
        """`sources` by name; those without a base URL are off. `claim_seconds`: after so long without a sign of life
        another process asks for what this one was asking for."""
        self._sources = {name: settings for name, settings in sources.items() if settings.base_url is not None}
        self._cache = cache
        self._rate_limits = rate_limits
        self._clock = clock
        self._new_id = new_id
        self._claim_seconds = claim_seconds
        self._clients: dict[str, SourceClient] = {}
        self._in_flight: SingleFlight[str, RequestWaiter] = SingleFlight()
        self._claims: set[str] = set()
        self._cache_slots = asyncio.Semaphore(_CACHE_CALLS)
        self._claim_poller = ClaimPoller(cache, _POLL_SECONDS)
        self._group = asyncio.TaskGroup()
        self._background: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._session = open_session()
        process = self._new_id()
        for name, settings in self._sources.items():
            endpoint = SourceEndpoint(name, settings, settings.base_url or "")
            rate_limit = SharedRateLimit(self._rate_limits, endpoint.bucket, _limits(settings), self._clock)
            scheduler = TurnScheduler(rate_limit, name, process, self._new_id)
            self._clients[name] = SourceClient(name, settings, endpoint, scheduler, self._session, self._clock)
            self._background.append(self._group.create_task(scheduler.run()))
        self._background.append(self._group.create_task(self._claim_poller.run()))
        self._background.append(self._group.create_task(self._renew_and_purge()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._in_flight.aclose(_STOPPING)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await asyncio.gather(*(client.scheduler.aclose() for client in self._clients.values()))
        await self._session.close()
        await self._group.__aexit__(kind, error, trace)

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        """As `SourceFetcher.fetch`; a caller who is cancelled cancels nobody else."""
        client = self._clients.get(request.source)
        if client is None:
            raise SourceUnavailable(f"{request.source} is off.", "It is on when its base URL is set.")
        waiter = RequestWaiter(context, client.settings.price(request.operation), self._clock.monotonic())
        key = client.endpoint.cache_key(request)
        self._in_flight.join(key, waiter, lambda call: self._respond(key, request, client, call))
        client.scheduler.enqueue(waiter)
        try:
            async with asyncio.timeout(context.patience + client.settings.answer_seconds):
                response = await waiter.result
        except TimeoutError:
            FAILURES.labels(request.source, "busy").inc()
            raise out_of_time(request.source, context.patience) from None
        except AssayerError as error:
            FAILURES.labels(request.source, _cause(error)).inc()
            raise
        finally:
            client.scheduler.remove(waiter)
            self._in_flight.leave(waiter)
        if waiter.joined:
            CACHE_HITS.labels(request.source, "shared").inc()
        return response if waiter.first else response._replace(cached=True)

    async def _respond(
        self, key: str, request: SourceRequest, client: SourceClient, call: InFlight[RequestWaiter]
    ) -> SourceResponse:
        try:
            return await self._obtain(key, request, client, call)
        except AssayerError:
            raise
        except Exception as error:
            _LOG.exception("%s %s", request.source, request.operation)
            raise Defect(f"assayer failed to ask {request.source}: {type(error).__name__}.") from error

    async def _obtain(
        self, key: str, request: SourceRequest, client: SourceClient, call: InFlight[RequestWaiter]
    ) -> SourceResponse:
        """From the cache, or from the source."""
        lifetime = client.settings.lifetime if request.lifetime is None else request.lifetime
        claimant = self._new_id()
        self._claims.add(claimant)
        try:
            cached = await self._find_or_claim(key, request.source, client, call, claimant, lifetime)
            if cached is not None:
                CACHE_HITS.labels(request.source, "stored").inc()
                return SourceResponse(cached.status, cached.body, cached.fetched_at, cached=True)
            response = await client.request(request, call)
            status: Literal[200, 404] = 200 if response.status == 200 else 404
            cached = CachedResponse(request.source, status, response.body, self._clock.now())
            async with self._cache_slots:
                await self._cache.keep(key, cached, lifetime)
            return SourceResponse(status, cached.body, cached.fetched_at, cached=False)
        except BaseException:
            await self._release(key, request.source, claimant)
            raise
        finally:
            self._claims.discard(claimant)

    async def _find_or_claim(
        self,
        key: str,
        source: str,
        client: SourceClient,
        call: InFlight[RequestWaiter],
        claimant: str,
        lifetime: dt.timedelta,
    ) -> CachedResponse | None:
        """The response that is there, or once nobody else is asking for it any more, None: it is for us to ask."""
        while True:
            async with self._cache_slots:
                found = await self._cache.find_or_claim(key, lifetime, claimant, self._claim_seconds)
            if isinstance(found, CachedResponse):
                return found
            if found == "claimed":
                return None
            await self._wait_for_others(key, source, client, call)

    async def _release(self, key: str, source: str, claimant: str) -> None:
        """What does not get through expires."""
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                await self._cache.release(key, claimant)
        except (TimeoutError, StorageError) as error:
            _LOG.warning("a claim on an answer of %s was not released: %s", source, said_by(error))

    async def _wait_for_others(
        self, key: str, source: str, client: SourceClient, call: InFlight[RequestWaiter]
    ) -> None:
        """While another process asks: until it is done, as long as each caller's patience and one answer last."""
        with self._claim_poller.watching(key) as unclaimed:
            while not unclaimed.done():
                await asyncio.wait([unclaimed], timeout=_IMPATIENCE_SECONDS)
                now = self._clock.monotonic()
                for waiter in call:
                    if now - waiter.since > waiter.patience + client.settings.answer_seconds:
                        waiter.refuse(_still_claimed_elsewhere(source, now - waiter.since))
            unclaimed.result()

    async def _renew_and_purge(self) -> None:
        """Claims are renewed while they are needed; responses that have outlived their lifetime are purged."""
        purge_at = self._clock.monotonic() + _PURGE_SECONDS
        while True:
            await asyncio.sleep(self._claim_seconds / _RENEWALS)
            try:
                if self._claims:
                    await self._cache.renew(list(self._claims), self._claim_seconds)
                if self._clock.monotonic() >= purge_at:
                    purge_at += _PURGE_SECONDS
                    while await self._cache.purge(_PURGE_BATCH) == _PURGE_BATCH:
                        continue
            except StorageError as error:
                _LOG.warning("the cache of remote sources cannot be looked after: %s", error)


def _limits(settings: SourceSettings) -> RateLimits:
    return RateLimits(
        spacing=settings.spacing_seconds,
        transit=settings.transit_seconds,
        connections=settings.connections,
        daily_budget=settings.daily_budget,
        send_within=settings.connect_seconds + 1.0,
        answer_within=settings.answer_seconds + 1.0,
    )


def _still_claimed_elsewhere(source: str, seconds: float) -> SourceBusy:
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
