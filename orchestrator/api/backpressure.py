"""Back-pressure: how large a body, how many requests, open streams and uploads one process takes on."""

import asyncio
import re
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import BinaryIO, Protocol, TypeVar, runtime_checkable
from weakref import WeakValueDictionary

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import send_problem
from orchestrator.batches.rows import ReadingAbandoned
from orchestrator.settings import ApiSettings, BatchSettings

__all__ = [
    "PROBES",
    "BodyLimit",
    "RequestLimit",
    "StreamLimit",
    "UnreadBodyDrain",
    "UploadLimit",
    "announces_body",
    "release_slot",
]

PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Answered however busy the process is: whoever asks takes the process for dead without an answer."""

T = TypeVar("T")
_PIECE = 1 << 20
_RETRY_SECONDS = 30


class BodyLimit:
    """Counts a body while it streams in and refuses it (413) at the first byte too many; nothing of it is stored here.

    Starlette's own middleware answers in plain text, without regard to the application's handlers.
    """

    def __init__(self, app: ASGIApp, settings: ApiSettings, uploads: re.Pattern[str]) -> None:
        """`uploads` are the paths whose bodies may hold many ideas."""
        self._app = app
        self._settings = settings
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_upload = self._uploads.fullmatch(scope["path"]) is not None
        most = self._settings.max_upload_bytes if is_upload else self._settings.max_body_bytes
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > most:
            await send_problem(_too_large(most, int(announced[:20])), scope, receive, send)
            return
        taken = values = 0
        is_json = _is_json(Headers(scope=scope).get("content-type", ""))

        async def counted() -> Message:
            nonlocal taken, values
            message = await receive()
            body = message.get("body", b"")
            taken += len(body)
            values += body.count(b",") if is_json else 0
            if taken > most:
                raise _too_large(most, None)
            if values > self._settings.max_json_values:
                raise _too_many_values(self._settings.max_json_values)
            return message

        await self._app(scope, counted, send)


def _too_large(most: int, announced: int | None) -> HttpProblem:
    size = "more" if announced is None else f"{announced:,}"
    return HttpProblem(
        "content-too-large",
        f"The body has {size} bytes; the limit is {most:,}. Send less at once: a batch may come in several parts.",
        headers={"Connection": "close"},
    )


def _is_json(content_type: str) -> bool:
    """Of one document: JSON lines are read one by one."""
    media = content_type.partition(";")[0].strip().lower()
    return media == "application/json" or media.endswith("+json")


def _too_many_values(most: int) -> HttpProblem:
    return HttpProblem(
        "content-too-large",
        f"The JSON of the body has more than {most:,} commas, which no ideas need. Send less at once.",
        headers={"Connection": "close"},
    )


def announces_body(scope: Scope) -> bool:
    headers = Headers(scope=scope) if scope["type"] == "http" else {}
    return bool(headers.get("content-length", "0").strip("0")) or "transfer-encoding" in headers


class UnreadBodyDrain:
    """Reads and discards, for a while, the rest of a body that was answered before it was read: a connection that is
    closed over unread data is reset, and a client that is still sending loses the answer."""

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not announces_body(scope):
            await self._app(scope, receive, send)
            return
        whole = False

        async def observed_receive() -> Message:
            nonlocal whole
            message = await receive()
            whole = whole or not message.get("more_body")
            return message

        async def draining_send(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body") and not whole:
                await send({**message, "more_body": True})
                release_slot(scope)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.linger_seconds):
                        while not whole:
                            await observed_receive()
                message = {"type": "http.response.body"}
            await send(message)

        await self._app(scope, observed_receive, draining_send)


class RequestLimit:
    """Refuses (503) further requests, unread, when the process has too many at once. Open streams do not count."""

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        if self._running >= self._settings.max_requests:
            await send_problem(self._busy(), scope, receive, send)
            return
        slot = _Slot(self)
        scope["assayer.slot"] = slot
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            slot.release()

    def _busy(self) -> HttpProblem:
        return HttpProblem(
            "busy",
            f"This server is working on {self._settings.max_requests} requests and takes no more at the moment. "
            "Try again after the seconds in Retry-After.",
            retry_after=self._settings.retry_seconds,
        )

    def request_ended(self) -> None:
        self._running -= 1


class _Slot:
    """One request's slot; released once, at the latest when the request ends."""

    def __init__(self, limit: RequestLimit) -> None:
        self._limit: RequestLimit | None = limit

    def release(self) -> None:
        limit, self._limit = self._limit, None
        if limit is not None:
            limit.request_ended()


def release_slot(scope: Mapping[str, object]) -> None:
    """Of a request that takes no more work; its turn among those of its tenant ends as well."""
    slot = scope.get("assayer.slot")
    if isinstance(slot, _Slot):
        slot.release()
    turn = scope.get("assayer.turn")
    if isinstance(turn, _Ends):
        turn.end()


@runtime_checkable
class _Ends(Protocol):
    def end(self) -> None: ...


class StreamLimit:
    """Limits the requests that are held open: event streams, and those that wait for a verdict. One per application."""

    def __init__(self, settings: ApiSettings) -> None:
        self._settings = settings
        self._held: Counter[str] = Counter()

    def has_room(self, tenant: str) -> bool:
        settings = self._settings
        return self._held[tenant] < settings.max_streams_per_tenant and self._held.total() < settings.max_streams

    @contextmanager
    def hold(self, tenant: str, scope: Mapping[str, object]) -> Iterator[None]:
        """Raises HttpProblem (429) when there are too many. Meanwhile the request's slot is free for others."""
        settings = self._settings
        if not self.has_room(tenant):
            raise HttpProblem(
                "too-many-streams",
                f"{self._held[tenant]} streams of this tenant are open here; it may have "
                f"{settings.max_streams_per_tenant}, and all together {settings.max_streams}. Close some.",
                retry_after=settings.retry_seconds,
            )
        release_slot(scope)
        self._held[tenant] += 1
        try:
            yield
        finally:
            self._held[tenant] -= 1
            if not self._held[tenant]:
                del self._held[tenant]


class UploadLimit:
    """Limits the large bodies that come in at once, and those that are parsed at once. One per application."""

    def __init__(self, settings: BatchSettings) -> None:
        self._settings = settings
        self._incoming = 0
        self._parsing = asyncio.Semaphore(settings.at_once)
        self._parsing_of = WeakValueDictionary[str, asyncio.Semaphore]()

    @asynccontextmanager
    async def receive(self, request: Request) -> AsyncIterator[BinaryIO]:
        """The whole body as a file at its start, which goes with the request. Raises HttpProblem when too many come
        in."""
        if self._incoming >= self._settings.uploads:
            raise HttpProblem(
                "busy",
                f"{self._incoming} large uploads are coming in, which is the limit. Send this one a little later.",
                retry_after=_RETRY_SECONDS,
            )
        self._incoming += 1
        try:
            with tempfile.TemporaryFile() as file:
                waiting = bytearray()
                async for piece in request.stream():
                    waiting += piece
                    if len(waiting) >= _PIECE:
                        await asyncio.to_thread(file.write, bytes(waiting))
                        waiting.clear()
                await asyncio.to_thread(file.write, bytes(waiting))
                file.seek(0)
                yield file
        finally:
            self._incoming -= 1

    async def parse(self, request: Request, tenant: str, work: Callable[[Callable[[], bool]], T]) -> T:
        """Runs `work` in a thread, when it is its turn: one tenant's batches never take every place. `work` is given a
        function that tells whether nobody waits any more, and may then raise ReadingAbandoned. Raises ClientDisconnect
        when the client has gone, and HttpProblem when reading takes too long."""
        gone, late = threading.Event(), threading.Event()
        watching = asyncio.create_task(_watch(request, gone))
        own = self._parsing_of.setdefault(tenant, asyncio.Semaphore(max(1, self._settings.at_once - 1)))
        try:
            async with own, self._parsing:
                timer = asyncio.get_running_loop().call_later(self._settings.reading_seconds, late.set)
                try:
                    return await asyncio.to_thread(work, lambda: gone.is_set() or late.is_set())
                finally:
                    timer.cancel()
        except ReadingAbandoned:
            if not gone.is_set():
                raise self._too_slow() from None
            raise ClientDisconnect from None
        finally:
            gone.set()
            watching.cancel()

    def _too_slow(self) -> HttpProblem:
        return HttpProblem(
            "content-too-large",
            f"Reading these ideas takes more than {self._settings.reading_seconds:g} s, and none was taken. "
            "Send them in several parts.",
        )


async def _watch(request: Request, gone: threading.Event) -> None:
    """Of a request whose body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        continue
    gone.set()
