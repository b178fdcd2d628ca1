"""Gateway for all requests to literature sources. Identical requests are sent only once, and responses are cached.

fetch ── single flight ── cached? ──────────────────────────> response
                          └ claim ── turn ── send, retry ──> cache ──> response"""

import asyncio
import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Literal, Self

from assayer.errors import AssayerError, Defect, SourceBusy, SourceRefused, SourceUnavailable, StorageError
from assayer.models.remote import CachedResponse
from assayer.ports import Clock
from workers.outbound.claims import ClaimKeeper
from workers.outbound.metrics import CACHE_HITS, FAILURES
from workers.outbound.priority_gate import Place
from workers.outbound.single_flight import InFlight, SingleFlight, Waiter
from workers.outbound.source_pace import Wait
from workers.outbound.source_requests import RequestContext, SourceRequest, SourceResponse, build_out_of_time_error
from workers.outbound.source_retries import SourceClient
from workers.outbound.source_settings import SourceSettings
from workers.outbound.store import ResponseCache, SharedState

_LOG = logging.getLogger(__name__)
_PURGE_SECONDS = 600.0
_PURGE_BATCH = 500
_MAX_CACHE_CALLS = 4
"""Maximum number of concurrent calls to the cache, which leaves database connections for the rate limiter."""
_STOPPING_ERROR = SourceUnavailable("The program is stopping.")


class _RequestWaiter(Waiter[SourceResponse]):
    """Caller that waits for a response."""

    def __init__(self, context: RequestContext, started_at: float) -> None:
        super().__init__()
        self.owner = context.owner
        self.patience = context.patience
        self.deadline = started_at + context.patience
        """Latest time at which an attempt may start. Failed attempts do not extend it."""


class _Line:
    """Position of one request in a source's queue, shared by all callers that wait for the response. Implements
    `source_retries.Line`."""

    def __init__(self, flight: InFlight[_RequestWaiter], client: SourceClient, source: str, clock: Clock) -> None:
        self._flight = flight
        self._client = client
        self._source = source
        self._clock = clock
        self._place: Place[int] | None = None
        """Current place in the queue; None before the request first joins it."""
        self.is_waiting = False
        """Whether the request is currently waiting for a turn."""

    def take_place(self) -> Place[int]:
        """Join the queues of all owners. A retried request goes ahead of all requests that have not had a turn yet."""
        is_retry = self._place is not None
        owners = [waiter.owner for waiter in self._flight] or [""]
        self._place = Place(0 if is_retry else 1, owners[0])
        for owner in owners[1:]:
            self._place.add_owner(owner)
        self.is_waiting = True
        now = self._clock.monotonic()
        for waiter in self._flight:
            if not is_retry:
                waiter.deadline = now + waiter.patience
            elif now > waiter.deadline:
                waiter.refuse(build_out_of_time_error(self._source, waiter.patience))
        if not is_retry:
            self._refuse(self._client.pacer.estimate_wait(self._place), None)
        return self._place

    def add_waiter(self, waiter: _RequestWaiter) -> None:
        """Add another owner that waits for the same request."""
        if self._place is not None:
            self._place.add_owner(waiter.owner)

    def check(self, wait: Wait | None) -> None:
        """Fail callers whose time limit ends before the next turn is possible."""
        if wait is not None:
            self._refuse(wait.opening, wait)

    def begin(self) -> None:
        self.is_waiting = False

    def _refuse(self, seconds: float, wait: Wait | None) -> None:
        now = self._clock.monotonic()
        for waiter in self._flight:
            if now + seconds > waiter.deadline:
                waiter.refuse(_build_busy_error(self._source, seconds, waiter.patience, wait))


class SourceGateway:
    """Fetches responses from sources. Implements `workers.outbound.source_requests.SourceFetcher`. Use it as an async
    context manager."""

    def __init__(
        self,
        sources: Mapping[str, SourceSettings],
        cache: ResponseCache,
        state: SharedState,
        clock: Clock,
        claim_seconds: float = 10.0,
    ) -> None:
        """Create a gateway. `sources` are settings by source name; a source without a base URL is disabled. If this
        process does not renew its claims for `claim_seconds`, another process may send its requests."""
        self._sources = {name: settings for name, settings in sources.items() if settings.base_url is not None}
        self._cache = cache
        self._state = state
        self._clock = clock
        self._claims = ClaimKeeper(cache, claim_seconds)
        self._clients: dict[str, SourceClient] = {}
        self._in_flight: SingleFlight[str, _RequestWaiter] = SingleFlight()
        self._lines: dict[InFlight[_RequestWaiter], _Line] = {}
        self._cache_slots = asyncio.Semaphore(_MAX_CACHE_CALLS)
        self._purge_task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        for name, settings in self._sources.items():
            self._clients[name] = SourceClient(name, settings, self._state, self._clock)
        self._purge_task = asyncio.create_task(self._purge(), name="purge of source responses")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._in_flight.aclose(_STOPPING_ERROR)
        if self._purge_task is not None:
            self._purge_task.cancel()
            await asyncio.gather(self._purge_task, return_exceptions=True)
        await self._claims.aclose()
        for client in self._clients.values():
            await client.aclose()

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        """Fetch a response; see `SourceFetcher.fetch`. Cancelling a caller does not affect other callers."""
        client = self._clients.get(request.source)
        if client is None:
            raise SourceUnavailable(f"{request.source} is disabled.", "Set its base URL to enable it.")
        waiter = _RequestWaiter(context, self._clock.monotonic())
        key = client.address.build_cache_key(request)
        flight = self._in_flight.join(key, waiter, lambda flight: self._respond(key, request, client, flight))
        if (line := self._lines.get(flight)) is not None:
            line.add_waiter(waiter)
        try:
            response = await self._wait_for_result(waiter, flight, client, request.source)
        except AssayerError as error:
            FAILURES.labels("source", request.source, _classify_error(error)).inc()
            raise
        finally:
            self._in_flight.leave(waiter)
        if waiter.has_joined:
            CACHE_HITS.labels("source", request.source, "shared").inc()
        return response if waiter.is_first else response._replace(cached=True)

    async def _wait_for_result(
        self, waiter: _RequestWaiter, flight: InFlight[_RequestWaiter], client: SourceClient, source: str
    ) -> SourceResponse:
        """Wait for as long as the caller's time limit allows, or longer if the response is already in flight."""
        await asyncio.wait([waiter.result], timeout=waiter.patience)
        line = self._lines.get(flight)
        if not waiter.result.done() and not (line is not None and line.is_waiting):
            await asyncio.wait([waiter.result], timeout=client.settings.answer_seconds)
        if not waiter.result.done():
            raise build_out_of_time_error(source, waiter.patience)
        return waiter.result.result()

    async def _respond(
        self, key: str, request: SourceRequest, client: SourceClient, flight: InFlight[_RequestWaiter]
    ) -> SourceResponse:
        try:
            with self._claims.create_claimant() as claimant:
                return await self._obtain(key, request, client, flight, claimant)
        except AssayerError:
            raise
        except Exception as error:
            _LOG.exception("%s %s", request.source, request.operation)
            raise Defect(f"Unexpected error in a request to {request.source}: {type(error).__name__}.") from error
        finally:
            self._lines.pop(flight, None)

    async def _obtain(
        self, key: str, request: SourceRequest, client: SourceClient, flight: InFlight[_RequestWaiter], claimant: str
    ) -> SourceResponse:
        """Return the response from the cache or, if it is not cached, from the source."""
        lifetime = client.settings.lifetime if request.lifetime is None else request.lifetime

        async def find_or_claim() -> CachedResponse | Literal["claimed", "elsewhere"]:
            async with self._cache_slots:
                return await self._cache.find_or_claim(key, lifetime, claimant, self._claims.seconds)

        try:
            cached = await self._claims.find_or_claim(key, find_or_claim)
            if cached is not None:
                CACHE_HITS.labels("source", request.source, "stored").inc()
                return SourceResponse(cached.status, cached.body, cached.fetched_at, cached=True)
            line = self._lines[flight] = _Line(flight, client, request.source, self._clock)
            response = await client.send_with_retries(request, line)
            status: Literal[200, 404] = 200 if response.status == 200 else 404
            cached = CachedResponse(request.source, status, response.body, self._clock.now())
            async with self._cache_slots:
                await self._cache.store(key, cached, lifetime)
            return SourceResponse(status, cached.body, cached.fetched_at, cached=False)
        except BaseException:
            await self._claims.release(key, claimant)
            raise

    async def _purge(self) -> None:
        """Delete expired responses."""
        while True:
            await asyncio.sleep(_PURGE_SECONDS)
            try:
                while await self._cache.purge(_PURGE_BATCH) == _PURGE_BATCH:
                    continue
            except StorageError as error:
                _LOG.warning("the cache of source responses could not be purged: %s", error)


def _build_busy_error(source: str, seconds: float, max_seconds: float, wait: Wait | None) -> SourceBusy:
    if wait is not None and wait.reason == "budget":
        return SourceBusy(f"Today's request budget for {source} is used up.", "It is renewed at midnight UTC.")
    if wait is not None and wait.reason == "pause" and seconds > 0:
        return SourceBusy(
            f"{source} is rate limited: no requests are allowed for another {seconds:.0f} s.", "Try again later."
        )
    wait_text = (
        f"the next request can start in {seconds:.0f} s" if seconds > max_seconds else "the request could not start"
    )
    return SourceBusy(
        f"{source} is busy: {wait_text}, but this evaluation waits at most {max_seconds:.0f} s.",
        "Evaluate fewer ideas at once, or allow more time for each.",
    )


def _classify_error(error: AssayerError) -> str:
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
