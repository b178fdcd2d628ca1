"""HTTP client for one service, with pooled connections, a timeout and a size limit for each request, and classified
responses."""

import asyncio
import datetime as dt
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple
from urllib.parse import quote, quote_plus
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from workers.outbound.durations import parse_duration

KEEP_ALIVE_SECONDS = 4.0
"""Seconds for which an idle connection is kept. Less than the 5 s of common servers, so that a server does not close
the connection while a request is being sent."""
_CHUNK_BYTES = 2**16
_ERROR_BYTES = 2**16
"""Maximum number of bytes read from an error response's body."""
_UNSENT_ERRORS = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
)
"""Errors that occur before a request is sent. After any other error, the service may have read the request."""


class HttpRequest(NamedTuple):
    url: URL
    headers: Mapping[str, str]
    seconds: float
    """Timeout in seconds for the whole request, including connecting."""
    max_bytes: int
    """Maximum size of the response body after decompression, in bytes."""
    body: bytes | aiohttp.FormData | None = None
    method: Literal["GET", "POST", "DELETE"] = "GET"
    redirects: bool = False
    """Whether to follow redirects; if not, they are returned as responses."""


class HttpResponse(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Response headers; names are case-insensitive."""
    body: bytes


class HttpFailure(Exception):
    """Failure to receive a complete response. The message never contains the URL, because that may contain a key."""

    def __init__(self, kind: Literal["timeout", "connection", "too_large"], detail: str, was_sent: bool) -> None:
        super().__init__(kind, detail, was_sent)
        self.kind = kind
        self.detail = detail
        self.was_sent = was_sent
        """Whether the service may have read the request."""

    def __str__(self) -> str:
        return self.detail


class HttpClient:
    """HTTP client for one service. It belongs to one event loop, in which it must be closed."""

    def __init__(self, connect_seconds: float, limit: int = 0) -> None:
        """Create a client. `limit` is the maximum number of connections; 0 means no limit."""
        self._connect_seconds = connect_seconds
        self._limit = limit
        self._proxies = getproxies()
        """Proxies from the environment, by scheme. They are read only once, because reading them is slow."""
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send one request. Raises HttpFailure if there is no complete response."""
        session = self._session = self._session or self._create_session()
        headers = dict(request.headers)
        if isinstance(request.body, bytes):
            headers["Content-Type"] = "application/json"
        try:
            async with (
                asyncio.timeout(request.seconds),
                session.request(
                    request.method,
                    request.url,
                    data=request.body,
                    headers=headers,
                    allow_redirects=request.redirects,
                    proxy=self._find_proxy(request.url),
                ) as response,
            ):
                return HttpResponse(response.status, response.headers, await _read_body(response, request.max_bytes))
        except _TooLarge:
            detail = f"the response is larger than {request.max_bytes:,} bytes"
            raise HttpFailure("too_large", detail, was_sent=True) from None
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise _build_failure(error, request.seconds) from None

    def _find_proxy(self, url: URL) -> str | None:
        """Return the proxy configured for the URL, or None if there is none."""
        proxy = self._proxies.get(url.scheme)
        return None if proxy is None or proxy_bypass(url.authority.rpartition("@")[2]) else proxy

    async def aclose(self) -> None:
        """Close all connections. Requests in flight fail."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _create_session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._limit, limit_per_host=0, keepalive_timeout=KEEP_ALIVE_SECONDS),
            # `send` limits the time of the whole request.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            # With `trust_env`, aiohttp would also read ~/.netrc and send its passwords in addition to our keys.
            trust_env=False,
        )


def _build_failure(error: Exception, seconds: float) -> HttpFailure:
    causes = list(_collect_causes(error))
    was_sent = not any(isinstance(cause, _UNSENT_ERRORS) for cause in causes)
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return HttpFailure("timeout", f"no response within {seconds:g} s", was_sent)
    return HttpFailure("connection", _describe_causes(causes), was_sent)


class _TooLarge(Exception):
    """Raised if a response body is longer than the request allows."""


async def _read_body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Read the body or, for an error response, only its beginning."""
    should_read_all = response.status < 300 or classify_response(response.status, response.headers) == "missing"
    if not should_read_all:
        limit = min(limit, _ERROR_BYTES)
    chunks: list[bytes] = []
    length = 0
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        chunks.append(chunk)
        length += len(chunk)
        if length > limit:
            if should_read_all:
                raise _TooLarge
            break
    return b"".join(chunks)


def _collect_causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _describe_causes(causes: list[BaseException]) -> str:
    for error in causes:
        if isinstance(error, aiohttp.ClientHttpProxyError):
            return f"the proxy refused the connection: {error.status} {error.message}"
        if isinstance(error, aiohttp.ClientConnectorError):
            return f"no connection: {error.strerror or type(error.os_error).__name__}"
        if isinstance(error, aiohttp.ServerDisconnectedError):
            return "the server closed the connection without a response"
        if isinstance(error, aiohttp.ClientPayloadError):
            return "the response was cut off"
    return f"the connection failed ({type(causes[-1]).__name__})"


ResponseKind = Literal["answer", "missing", "redirect", "rate_limited", "transient", "refused"]

_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_TRANSIENT_STATUSES = frozenset({408, 409, 425})


def classify_response(status: int, headers: Mapping[str, str]) -> ResponseKind:
    """Classify a response. GitHub and OpenAlex may report rate limits as 403."""
    if status in _REDIRECT_STATUSES:
        return "redirect"
    if status == 200:
        return "answer"
    if status in {404, 410}:
        return "missing"
    is_limit_exhausted = "retry-after" in headers or bool(_list_exhausted_limits(headers))
    if status == 429 or (status == 403 and is_limit_exhausted):
        return "rate_limited"
    return "transient" if status >= 500 or status in _TRANSIENT_STATUSES else "refused"


_MIN_UNIX_TIME = 1e9
"""Value from which a rate limit reset is a Unix time. A smaller value is a number of seconds from now, because no
service blocks a client for thirty years."""


def find_retry_after(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Return the wait that a service requests, in seconds, at least 0; None if it requests none.

    Reads `retry-after-ms`, `retry-after` (a duration or a date), and the last time at which an exhausted limit is
    renewed. Dates are relative to the response's own date or, if it has none, to `now`."""
    now = _parse_date(headers.get("date", "")) or now
    milliseconds = _parse_number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    seconds = _compute_seconds_until(headers.get("retry-after", ""), now)
    if seconds is None:
        resets = (_compute_seconds_until(reset, now) for reset in _list_exhausted_limits(headers))
        seconds = max((item for item in resets if item is not None), default=None)
    return None if seconds is None else max(0.0, seconds)


_REMAINING_HEADER = re.compile(r"ratelimit-(?:.*-)?remaining(?=-|$)", re.IGNORECASE)
"""Header of what is left of a rate limit, as in `x-ratelimit-remaining-tokens` (OpenAI) and
`anthropic-ratelimit-tokens-remaining`."""


def _list_exhausted_limits(headers: Mapping[str, str]) -> list[str]:
    """Return when each rate limit with nothing left is renewed, as stated; an empty text if it is not stated."""
    return [
        headers.get(name.lower().replace("remaining", "reset"), "")
        for name, value in headers.items()
        if _REMAINING_HEADER.search(name) and _parse_number(value) == 0
    ]


def _compute_seconds_until(text: str, now: dt.datetime) -> float | None:
    """Return the seconds until a time stated as a duration, a date or a Unix time."""
    seconds = _parse_number(text)
    if seconds is None:
        date = _parse_date(text)
        return parse_duration(text) if date is None else (date - now).total_seconds()
    if seconds < _MIN_UNIX_TIME:
        return seconds
    # OpenRouter states milliseconds.
    return (seconds / 1000 if seconds >= 1000 * _MIN_UNIX_TIME else seconds) - now.timestamp()


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _parse_date(text: str) -> dt.datetime | None:
    for parse in (parsedate_to_datetime, dt.datetime.fromisoformat):
        with suppress(ValueError, OverflowError):
            date = parse(text)
            return date.astimezone(dt.UTC) if date.tzinfo else date.replace(tzinfo=dt.UTC)
    return None


def read_json(body: bytes) -> object:
    """Parse untrusted JSON. If it is not JSON or is nested too deeply, return the body as text."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")
    return value


def redact_secrets(text: str, *secrets: str) -> str:
    """Replace secrets, plain or URL-encoded, with `…`, because servers and libraries may quote them in messages."""
    for secret in filter(None, secrets):
        for form in {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}:
            text = text.replace(form, "…")
    return text
