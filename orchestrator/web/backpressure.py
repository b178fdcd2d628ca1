"""Back-pressure: per-process limits on requests, open streams and uploads."""

import asyncio
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any, BinaryIO, TypeVar
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from orchestrator.batches.rows import ReadingAbandoned
from orchestrator.problems import HttpProblem
from orchestrator.settings import ApiSettings, BatchSettings
from orchestrator.web.request_log import send_problem

PROBE_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that are served even if the process is overloaded, because an unanswered probe would mark the process as
dead."""

T = TypeVar("T")
_BUFFER_BYTES = 1 << 20
_RETRY_SECONDS = 30


class RequestLimit:
    """Middleware that rejects requests with status 503, without reading them, while the process has too many concurrent
    requests. Open streams do not count."""

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBE_PATHS:
            await self._app(scope, receive, send)
            return
        if self._running >= self._settings.max_requests:
            await send_problem(self._build_busy_problem(), scope, receive, send)
            return
        with ExitStack() as slot:
            self._running += 1
            slot.callback(self._end_request)
            scope.setdefault("assayer.slots", []).append(slot.close)
            await self._app(scope, receive, send)

    def _build_busy_problem(self) -> HttpProblem:
        return HttpProblem(
            "busy",
            f"This server is already processing {self._settings.max_requests} requests, which is the maximum. "
            "Try again after the number of seconds in Retry-After.",
        )

    def _end_request(self) -> None:
        self._running -= 1


def release_slots(scope: Mapping[str, Any]) -> None:
    """Release a request's slots once it has no more work to do: its slot in this process and its slot for the
    tenant."""
    for release in scope.get("assayer.slots", ()):
        release()


@contextmanager
def count_held(counts: Counter[str], tenant: str) -> Iterator[None]:
    """Count one more for the tenant within the context. Tenants whose count returns to zero are removed."""
    counts[tenant] += 1
    try:
        yield
    finally:
        counts[tenant] -= 1
        if not counts[tenant]:
            del counts[tenant]


class StreamLimit:
    """A limit on requests that are held open: event streams, and requests that wait for a job to end. One instance per
    application."""

    def __init__(self, settings: ApiSettings) -> None:
        self._settings = settings
        self._open_streams: Counter[str] = Counter()

    def has_room(self, tenant: str) -> bool:
        settings = self._settings
        return (
            self._open_streams[tenant] < settings.max_streams_per_tenant
            and self._open_streams.total() < settings.max_streams
        )

    def check_room(self, tenant: str) -> None:
        """Raise HttpProblem with status 429 if too many streams are open."""
        settings = self._settings
        if not self.has_room(tenant):
            raise HttpProblem(
                "too-many-streams",
                f"This tenant has {self._open_streams[tenant]} open streams on this server. The limit is "
                f"{settings.max_streams_per_tenant} per tenant and {settings.max_streams} for all tenants together. "
                "Close some streams first.",
            )

    @contextmanager
    def hold(self, tenant: str, scope: Mapping[str, Any]) -> Iterator[None]:
        """Count a stream as open, and release the request's slot for other requests. Raises HttpProblem with status 429
        if too many streams are open."""
        self.check_room(tenant)
        release_slots(scope)
        with count_held(self._open_streams, tenant):
            yield


class UploadLimit:
    """Limits on how many large bodies are received concurrently, and how many are parsed concurrently. One instance per
    application."""

    def __init__(self, settings: BatchSettings) -> None:
        self._settings = settings
        self._incoming = 0
        self._parsing = asyncio.Semaphore(settings.at_once)
        self._parsing_of = WeakValueDictionary[str, asyncio.Semaphore]()

    @asynccontextmanager
    async def receive(self, request: Request) -> AsyncIterator[BinaryIO]:
        """Yield the whole body as a temporary file, positioned at its start. Raises HttpProblem if too many uploads are
        in progress."""
        if self._incoming >= self._settings.uploads:
            raise HttpProblem(
                "busy",
                f"This server is already receiving {self._incoming} large uploads, its maximum. Try again later.",
                retry_after=_RETRY_SECONDS,
            )
        self._incoming += 1
        try:
            with tempfile.TemporaryFile() as file:
                buffer = bytearray()
                async for chunk in request.stream():
                    buffer += chunk
                    if len(buffer) >= _BUFFER_BYTES:
                        await asyncio.to_thread(file.write, bytes(buffer))
                        buffer.clear()
                await asyncio.to_thread(file.write, bytes(buffer))
                file.seek(0)
                yield file
        finally:
            self._incoming -= 1

    async def parse(self, request: Request, tenant: str, parse_body: Callable[[Callable[[], bool]], T]) -> T:
        """Run `parse_body` in a thread once a slot is free. One tenant never takes all slots unless there is only one.
        `parse_body` receives a function that returns True once it should stop by raising ReadingAbandoned. Raises
        ClientDisconnect if the client has disconnected, and HttpProblem if parsing takes too long."""
        disconnected, timed_out = threading.Event(), threading.Event()
        watcher = asyncio.create_task(_watch_for_disconnect(request, disconnected))
        tenant_slots = self._parsing_of.setdefault(tenant, asyncio.Semaphore(max(1, self._settings.at_once - 1)))
        try:
            async with tenant_slots, self._parsing:
                timer = asyncio.get_running_loop().call_later(self._settings.reading_seconds, timed_out.set)
                try:
                    return await asyncio.to_thread(parse_body, lambda: disconnected.is_set() or timed_out.is_set())
                finally:
                    timer.cancel()
        except ReadingAbandoned:
            if not disconnected.is_set():
                raise self._build_too_slow_problem() from None
            raise ClientDisconnect from None
        finally:
            disconnected.set()
            watcher.cancel()

    def _build_too_slow_problem(self) -> HttpProblem:
        return HttpProblem(
            "content-too-large",
            f"Parsing these ideas exceeded the limit of {self._settings.reading_seconds:g} s, so none were accepted. "
            "Send them in smaller parts.",
        )


async def _watch_for_disconnect(request: Request, disconnected: threading.Event) -> None:
    """Set the event when the request's client disconnects. The body must already have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        continue
    disconnected.set()
