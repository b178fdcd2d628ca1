"""Limits on request bodies: their size, how long the process waits for them, and how many a tenant may send
concurrently. A request occupies one of the process's slots while its body is received. Without limits, a few hundred
connections that send a byte now and then would block all other callers."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.problems import HttpProblem
from orchestrator.settings import ApiSettings
from orchestrator.web.backpressure import count_held, release_slots
from orchestrator.web.request_log import send_problem

_UNKNOWN_TENANT = ""
"""Stands for the tenant of all requests whose caller is unknown."""


class BodyLimit:
    """Middleware that rejects a body at the first byte over the size limit (413), if it arrives too slowly (408), or if
    the tenant has too many bodies in transfer (429). Only time spent waiting for the client counts. Requests whose
    caller is not known yet, such as console forms, count as one tenant."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ApiSettings,
        uploads: re.Pattern[str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the middleware. `uploads` matches the paths whose bodies can contain many ideas."""
        self._app = app
        self._settings = settings
        self._uploads = uploads
        self._monotonic = monotonic
        self._in_transfer: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _has_body(scope):
            await self._app(scope, receive, send)
            return
        is_upload = self._uploads.fullmatch(scope["path"]) is not None
        max_bytes = self._settings.max_upload_bytes if is_upload else self._settings.max_body_bytes
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > max_bytes:
            await send_problem(_build_too_large_problem(max_bytes, f"{int(announced[:20]):,}"), scope, receive, send)
            return
        caller = scope.get("assayer.caller")
        tenant = _UNKNOWN_TENANT if caller is None else caller.tenant
        if self._in_transfer[tenant] >= self._settings.max_bodies_per_tenant:
            # Before routing, which is most of the cost of a refusal.
            await send_problem(self._build_too_many_bodies_problem(tenant), scope, receive, send)
            return
        body = _Body(self._settings, max_bytes, _is_json(scope), receive, self._monotonic)
        with body.in_transfer:
            body.in_transfer.enter_context(count_held(self._in_transfer, tenant))
            await self._app(scope, body.receive, send)

    def _build_too_many_bodies_problem(self, tenant: str) -> HttpProblem:
        senders = "this tenant" if tenant else "callers without an API key"
        return HttpProblem(
            "rate-limited",
            f"This server is already receiving {self._in_transfer[tenant]} request bodies from {senders}, which "
            "is the limit. Try again later.",
            headers={"Connection": "close"},
        )


class _Body:
    """A request's body, which is considered in transit until it is complete or the request has been answered."""

    def __init__(
        self, settings: ApiSettings, max_bytes: int, is_json: bool, receive: Receive, monotonic: Callable[[], float]
    ) -> None:
        self._settings, self._max_bytes, self._is_json = settings, max_bytes, is_json
        self._receive, self._monotonic = receive, monotonic
        self.in_transfer, self._complete = ExitStack(), False
        self._waited_seconds = 0.0
        self._received_bytes = self._commas = 0

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        message = await self._receive_in_time()
        content = message.get("body", b"")
        self._received_bytes += len(content)
        self._commas += content.count(b",") if self._is_json else 0
        self._check_size()
        self._complete = not message.get("more_body", False)
        if self._complete:
            self.in_transfer.close()
        return message

    async def _receive_in_time(self) -> Message:
        """Return the body's next message. Raises HttpProblem if the body arrives too slowly."""
        allowed = self._settings.body_seconds + self._received_bytes / self._settings.least_body_rate
        began = self._monotonic()
        try:
            async with asyncio.timeout(max(0.0, allowed - self._waited_seconds)):
                message = await self._receive()
        except TimeoutError:
            raise HttpProblem(
                "body-too-slow",
                f"Only {self._received_bytes:,} bytes of the body had been received after {allowed:,.0f} s. After the "
                f"first {self._settings.body_seconds:g} s, at least {self._settings.least_body_rate:,} bytes per "
                "second are needed.",
                headers={"Connection": "close"},
            ) from None
        self._waited_seconds += self._monotonic() - began
        return message

    def _check_size(self) -> None:
        """Raise HttpProblem if the body has too many bytes or, in a JSON document, too many commas."""
        if self._received_bytes > self._max_bytes:
            raise _build_too_large_problem(self._max_bytes, "too many")
        if self._commas > self._settings.max_json_values:
            raise HttpProblem(
                "content-too-large",
                f"The JSON body has more than {self._settings.max_json_values:,} commas, which is the limit. "
                "Send less at once.",
                headers={"Connection": "close"},
            )


class UnreadBodyDrain:
    """Middleware that reads and discards the rest of a body if the response is ready before the body has been read, but
    only for a limited time. Closing a connection with unread data resets it, so a client that is still sending would
    lose the response."""

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _has_body(scope):
            await self._app(scope, receive, send)
            return
        is_complete = False

        async def receive_and_track() -> Message:
            nonlocal is_complete
            message = await receive()
            is_complete = is_complete or not message.get("more_body")
            return message

        async def drain_and_send(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body") and not is_complete:
                await send({**message, "more_body": True})
                release_slots(scope)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.linger_seconds):
                        while not is_complete:
                            await receive_and_track()
                message = {"type": "http.response.body"}
            await send(message)

        await self._app(scope, receive_and_track, drain_and_send)


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope) if scope["type"] == "http" else {}
    return bool(headers.get("content-length", "0").strip("0")) or "transfer-encoding" in headers


def _is_json(scope: Scope) -> bool:
    """Return whether the body is a single JSON document. JSON Lines do not count, because they are parsed line by
    line."""
    media = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
    return media == "application/json" or media.endswith("+json")


def _build_too_large_problem(max_bytes: int, size: str) -> HttpProblem:
    return HttpProblem(
        "content-too-large",
        f"The body has {size} bytes; the limit is {max_bytes:,}. Send less at once; a batch can be sent in "
        "several parts.",
        headers={"Connection": "close"},
    )
