"""Transport that sends documents with GROBID's own Python client (grobid-client-python).

That client only makes the request; its handling of errors and of 503 is overridden. By default, it treats a missing
response as the document's result, retries without limit, opens a connection per document and, after a cancellation,
blocks a thread until the server responds. This module avoids all of that."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from socket import SHUT_RDWR
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from grobid_client.grobid_client import GrobidClient
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.fields import RequestField

from workers.full_texts.grobid_client import (
    FORM_OPTIONS,
    GrobidBroken,
    GrobidOutcome,
    classify_response,
    get_body_limit,
)
from workers.full_texts.settings import GrobidSettings

_LOG = logging.getLogger(__name__)
_PIECE_BYTES = 65_536
_MAX_IDLE_SECONDS = 4.0
"""Seconds for which an idle connection is reused. Servers usually close idle connections after five seconds or more."""
_MAX_DETAIL_CHARS = 2_000


class OfficialGrobidTransport:
    """Transport that uses one thread per document in progress. Implements
    `workers.full_texts.grobid_client.GrobidTransport`."""

    def __init__(self, settings: GrobidSettings) -> None:
        self._clients = {url: _Client(url, settings) for url in settings.urls}

    async def post(self, url: str, pdf: bytes) -> GrobidOutcome:
        """Send the document and return the outcome. Cancellation closes the connection and ends the thread."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[GrobidOutcome] = loop.create_future()
        request = _Request()

        def set_outcome(outcome: GrobidOutcome) -> None:
            if not answer.done():
                answer.set_result(outcome)

        def send() -> None:
            outcome = self._clients[url].send_document(pdf, request)
            with suppress(RuntimeError):  # the loop may have been closed
                loop.call_soon_threadsafe(set_outcome, outcome)

        # A daemon thread, so that a waiting request does not prevent the process from ending.
        threading.Thread(target=send, daemon=True, name="grobid-client-python").start()
        try:
            return await answer
        finally:
            request.abort()


class _Request:
    """Request that another thread can abort."""

    def __init__(self) -> None:
        self._connection: _Connection | None = None
        self._has_ended = False

    def assign(self, connection: "_Connection") -> None:
        with _OWNERS_LOCK:
            self._connection, connection.owner = connection, self
            if self._has_ended:
                _shut_down(connection)

    def abort(self) -> None:
        """Abort the request by closing its connection, unless it is already answered or the connection now belongs to
        another request."""
        with _OWNERS_LOCK:
            self._has_ended = True
            if self._connection is not None and self._connection.owner is self:
                _shut_down(self._connection)

    def mark_answered(self) -> None:
        with _OWNERS_LOCK:
            if self._connection is not None and self._connection.owner is self:
                self._connection.owner, self._connection.idle_since = None, time.monotonic()


def _shut_down(connection: "_Connection") -> None:
    """Shut down the connection. This wakes up a thread that is reading from it."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(SHUT_RDWR)


class _ServerLost(Exception):
    """Lost connection to the server. It is not an OSError, because the client would take an OSError to mean that a file
    cannot be opened."""


_OWNERS_LOCK = threading.Lock()
_current = threading.local()
"""Per-thread state; `request` is the _Request that the thread is processing."""


class _Connection(HTTPConnection):
    owner: _Request | None = None
    idle_since: float | None = None

    def connect(self) -> None:
        super().connect()
        _current.request.assign(self)

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        """Start the request, on a new connection if the server may be about to close the old one."""
        if self.idle_since is not None and time.monotonic() - self.idle_since > _MAX_IDLE_SECONDS:
            self.close()
        if self.sock is not None:
            _current.request.assign(self)
        super().putrequest(*args, **kwargs)


class _SecureConnection(_Connection, HTTPSConnection):
    """Connection over TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class _Client(GrobidClient):
    """GROBID client for one server, which any number of threads can use."""

    def __init__(self, url: str, settings: GrobidSettings) -> None:
        super().__init__(grobid_server=url, check_server=False)
        url_parts = urlsplit(url)
        kind = _SecurePool if url_parts.scheme == "https" else _Pool
        self._pool = kind(
            url_parts.hostname or "",
            url_parts.port,
            maxsize=settings.slots,
            timeout=Timeout(connect=settings.alive_seconds, read=settings.document_seconds),
            retries=False,
        )

    def send_document(self, pdf: bytes, request: _Request) -> GrobidOutcome:
        _current.request = request
        try:
            body: Any  # bytes from `call_api`, although the client declares text
            _, status, body = self.process_pdf(
                "processFulltextDocument",
                pdf,
                consolidate_header=False,
                consolidate_citations=False,
                include_raw_citations=True,
            )
        except Exception as error:  # noqa: BLE001 - reported to the pool, which sends the document to another server
            return GrobidBroken(f"{type(error).__name__}: {error}"[:_MAX_DETAIL_CHARS])
        finally:
            request.mark_answered()
        return classify_response(status, body if isinstance(body, bytes) else str(body).encode())

    def _configure_logging(self) -> None:
        """Use this module's logger. The client's own method would remove other code's handlers and print to stdout."""
        self.logger = _LOG

    def call_api(
        self,
        method: str,
        url: str,
        headers: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
        data: dict[str, str] | None = None,
        files: dict[str, Any] | None = None,
        timeout: int | None = None,
    ) -> tuple[Any, int]:
        """Send a request on a reused connection, without redirects, and with a limit on the size of the response. The
        result has the form that the client expects."""
        fields: list[RequestField | tuple[str, str]] = [*{**FORM_OPTIONS, **(data or {})}.items()]
        for name, (filename, handle, kind, part_headers) in (files or {}).items():
            part = RequestField(name, handle.read(), filename=filename, headers=dict(part_headers))
            part.make_multipart(content_type=kind)
            fields.append(part)
        try:
            response = self._pool.request(
                method, urlsplit(url).path, fields=fields, headers={"Accept": "application/xml"},
                preload_content=False, redirect=False, retries=False,
            )  # fmt: skip
            with response:
                max_bytes = get_body_limit(response.status)
                body = bytearray()
                for piece in response.stream(_PIECE_BYTES, decode_content=True):
                    body += piece
                    if len(body) >= max_bytes:
                        response.close()
                        break
                _current.request.mark_answered()
        except (HTTPError, OSError) as error:
            raise _ServerLost(f"{type(error).__name__}: {error}") from None
        return SimpleNamespace(text=bytes(body[:max_bytes])), response.status

    def _handle_server_busy_retry(self, file_path: str, retry_func: Callable[..., Any], *_: Any, **__: Any) -> Any:
        """Return status 503 without retrying, because the pool decides which server gets the document next."""
        return file_path, 503, b""

    def _handle_unexpected_error(self, file_path: str, error: Exception) -> tuple[str, int, str]:
        raise error
