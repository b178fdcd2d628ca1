"""One HTTP request to a source: its URL, key and headers; sent within its permit, deadline and limit of size."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import NamedTuple
from urllib.parse import quote, quote_plus

import aiohttp
from yarl import URL

from assayer import __version__
from assayer.errors import SourceRefused
from workers.remote.request import SourceRequest
from workers.remote.retry_policy import TransientSourceFailure
from workers.remote.settings import SourceSettings
from workers.remote.turn_scheduler import SendPermit

__all__ = ["HttpRequest", "HttpResponse", "ResponseTooLarge", "SourceEndpoint", "open_session", "send_request"]


class SourceEndpoint:
    """Of one source that is on."""

    def __init__(self, source: str, settings: SourceSettings, base_url: str) -> None:
        self._source = source
        self._settings = settings
        self._base = URL(base_url)
        self._secret = settings.api_key.get_secret_value()
        self.host = self._base.authority.rpartition("@")[2]

    @property
    def bucket(self) -> str:
        """Names the limits that hold here: those of this API at this host for this key."""
        return f"{self._source} {self.host} {hashlib.sha256(self._secret.encode()).hexdigest()[:16]}"

    def cache_key(self, request: SourceRequest) -> str:
        """Names the answer: the same for everybody who asks the same of the same server."""
        asked = [request.source, str(self._base), request.path, sorted(request.params), request.body]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    def url(self, request: SourceRequest) -> URL:
        """Raises SourceRefused for a path that leads out of the source's base URL."""
        base = str(self._base).rstrip("/") + "/"
        url = URL(base + request.path)
        if not str(url).startswith(base):
            raise SourceRefused(f"The path {request.path!r} leads out of {self._source}'s address.")
        return url.extend_query(list(request.params) + self._params())

    def redirected(self, url: URL, location: str) -> URL:
        """Raises SourceRefused for another host; the only change that is followed is the one to encryption."""
        try:
            target = url.join(URL(location))
        except ValueError:
            target = URL()
        encrypted = (url.scheme, target.scheme, target.port) == ("http", "https", 443)
        if target.host != url.host or not (encrypted or target.origin() == url.origin()):
            raise SourceRefused(
                f"{self._source} redirects from {self.host} to {target.authority or 'nowhere'}; that is not followed.",
                f"Check {self._settings.variable}__BASE_URL.",
            )
        added = {name: value for name, value in self._params() if name not in target.query}
        return target.update_query(added) if added else target

    def headers(self) -> Mapping[str, str]:
        place = self._settings.key_place
        headers = {"User-Agent": f"assayer/{__version__}", "Accept": "*/*", **dict(self._settings.headers)}
        if self._secret and place.kind == "header":
            headers[place.name] = place.prefix + self._secret
        if self._settings.connections == 1:
            headers["Connection"] = "close"  # an idle connection of ours would be a second one to another process
        return headers

    def redacted(self, text: str) -> str:
        """Without key and e-mail address: some servers and libraries repeat what they were sent."""
        for secret in (self._secret, self._settings.email):
            if secret:
                for form in {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}:
                    text = text.replace(form, "…")
        return text

    def _params(self) -> list[tuple[str, str]]:
        place, email = self._settings.key_place, self._settings.email
        params = []
        if self._secret and place.kind == "param":
            params.append((place.name, self._secret))
        if email and self._settings.email_param:
            params.append((self._settings.email_param, email))
        return params


_CHUNK = 64 * 1024
_ERROR_BYTES = 4 * 1024
"""Bytes of the body that are read when the status is not that of an answer."""


class HttpRequest(NamedTuple):
    url: URL
    headers: Mapping[str, str]
    body: str | None
    """JSON; makes it a POST."""
    connect_seconds: float
    answer_seconds: float
    max_bytes: int


class HttpResponse(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class ResponseTooLarge(Exception):
    """The body is longer than the request allows."""


def open_session() -> aiohttp.ClientSession:
    """Keeps no cookies, looks at no environment."""
    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(_on_headers_sent)
    trace.on_request_chunk_sent.append(_on_body_sent)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[trace]
    )


async def send_request(session: aiohttp.ClientSession, request: HttpRequest, permit: SendPermit) -> HttpResponse:
    """Raises PermitExpired, TransientSourceFailure or ResponseTooLarge. Follows no redirect, ends no permit."""
    timeout = aiohttp.ClientTimeout(
        total=request.answer_seconds, connect=request.connect_seconds, sock_connect=request.connect_seconds
    )
    headers = dict(request.headers)
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    try:
        async with session.request(
            "GET" if request.body is None else "POST",
            request.url,
            data=None if request.body is None else request.body.encode(),
            headers=headers,
            timeout=timeout,
            allow_redirects=False,
            trace_request_ctx=permit,
        ) as response:
            permit.reached()
            answers = response.status < 300 or response.status in {404, 410}
            body = (
                await _read(response.content, request.max_bytes)
                if answers
                else await response.content.read(_ERROR_BYTES)
            )
            return HttpResponse(response.status, response.headers, body)
    except TimeoutError:
        raise TransientSourceFailure(f"no answer within {request.answer_seconds:g} s") from None
    except (aiohttp.ClientError, OSError) as error:
        # Not chained: some of these quote the URL, and the key in it.
        raise TransientSourceFailure(_describe(error)) from None


async def _read(content: aiohttp.StreamReader, most: int) -> bytes:
    chunks: list[bytes] = []
    length = 0
    async for chunk in content.iter_chunked(_CHUNK):
        length += len(chunk)
        if length > most:
            raise ResponseTooLarge
        chunks.append(chunk)
    return b"".join(chunks)


def _describe(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"no connection: {error.strerror or type(error.os_error).__name__}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the connection was closed without an answer"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the answer broke off"
    return f"the connection failed ({type(error).__name__})"


async def _on_headers_sent(
    _: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestHeadersSentParams
) -> None:
    """aiohttp calls this before it writes them; without a body they are written without giving way to others."""
    permit: SendPermit = context.trace_request_ctx
    permit.check()
    if params.method == "GET":
        asyncio.get_running_loop().call_soon(permit.sent)


async def _on_body_sent(
    _: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestChunkSentParams
) -> None:
    """Headers and body of a POST are written together, right after this."""
    permit: SendPermit = context.trace_request_ctx
    asyncio.get_running_loop().call_soon(permit.sent)
