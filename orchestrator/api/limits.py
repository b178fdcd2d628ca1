"""Back-pressure: how large a body, how many requests and how many open streams one process takes on."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.api.observing import refuse
from orchestrator.api.problems import Refusal
from orchestrator.api.settings import ApiSettings

__all__ = ["PROBES", "BodyLimit", "Lingering", "RequestLimit", "Streams"]

PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Answered however busy the process is: who asks decides by the answer whether it lives."""


class BodyLimit:
    """Counts a body while it streams in and refuses it (413) at the first byte too many; nothing is kept of it here.

    Starlette's own middleware answers in plain text, whatever handlers the application has.
    """

    def __init__(self, app: ASGIApp, settings: ApiSettings, uploads: re.Pattern[str]) -> None:
        """`uploads` are the paths that may carry many ideas at once."""
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
            await refuse(_too_large(most, int(announced[:20])), scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise _too_large(most, None)
            return message

        await self._app(scope, counted, send)


def _too_large(most: int, announced: int | None) -> Refusal:
    size = "more" if announced is None else f"{announced:,}"
    return Refusal(
        "content-too-large",
        f"The body has {size} bytes; here it may have {most:,}. Send less at once: a batch may come in several parts.",
        headers={"Connection": "close"},
    )


class Lingering:
    """Takes in, for a while, what is still on its way of a body that was answered unread, and throws it away: a
    connection that is closed over unread data is reset, and a client that is still sending loses the answer."""

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        if not headers.get("content-length", "0").strip("0") and "transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        whole = False

        async def noting() -> Message:
            nonlocal whole
            message = await receive()
            whole = whole or not message.get("more_body")
            return message

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body") and not whole:
                await send({**message, "more_body": True})
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.linger_seconds):
                        while not whole:
                            await noting()
                message = {"type": "http.response.body"}
            await send(message)

        await self._app(scope, noting, answering)


class RequestLimit:
    """More requests at once than the process can hold are refused (503) unread. Open streams do not count."""

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings
        self._within = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        if self._within >= self._settings.max_requests:
            await refuse(self._busy(), scope, receive, send)
            return
        place = _Place(self)
        scope["assayer.place"] = place
        self._within += 1
        try:
            await self._app(scope, receive, send)
        finally:
            place.leave()

    def _busy(self) -> Refusal:
        return Refusal(
            "busy",
            f"This server has {self._settings.max_requests} requests in work and takes no more for the moment. "
            "Try again as Retry-After says.",
            retry_after=self._settings.retry_seconds,
        )

    def left(self) -> None:
        self._within -= 1


class _Place:
    """One request's place; given up once, at the latest when the request ends."""

    def __init__(self, limit: RequestLimit) -> None:
        self._limit: RequestLimit | None = limit

    def leave(self) -> None:
        limit, self._limit = self._limit, None
        if limit is not None:
            limit.left()


class Streams:
    """Requests held open: event streams, and those that wait for a verdict. One an application."""

    def __init__(self, settings: ApiSettings) -> None:
        self._settings = settings
        self._held: Counter[str] = Counter()

    def free(self, key: str) -> bool:
        settings = self._settings
        return self._held[key] < settings.max_streams_per_key and self._held.total() < settings.max_streams

    @contextmanager
    def held(self, key: str, scope: Mapping[str, object]) -> Iterator[None]:
        """Raises Refusal (429) when there are too many. The request's place is free for others meanwhile."""
        if not self.free(key):
            raise Refusal(
                "too-many-streams",
                f"{self._held[key]} streams of this key are open here. There may be "
                f"{self._settings.max_streams_per_key} a key and {self._settings.max_streams} in all. Close some.",
                retry_after=self._settings.retry_seconds,
            )
        place = scope.get("assayer.place")
        if isinstance(place, _Place):
            place.leave()
        self._held[key] += 1
        try:
            yield
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
