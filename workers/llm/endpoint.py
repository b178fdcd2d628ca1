"""One OpenAI-compatible endpoint over HTTP: its connections, one request, and what came of it.

Plain aiohttp: a request and an answer are JSON in one piece each, and the official client takes four times the
processor time for them (docs/adr/0027).
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from pydantic_core import to_json

from assayer.models import Fault, FaultKind
from assayer.ports import Clock
from workers.llm.chat_completion import Completion, parse_completion, read_without_answer
from workers.llm.errors import (
    PermanentLlmFailure,
    ReadTokens,
    TransientLlmFailure,
    failure_from_status,
    parse_error_body,
    rejected_generation,
)
from workers.llm.settings import LlmSettings

__all__ = ["EndpointClient"]

KEEP_ALIVE_SECONDS = 4.0
"""Less than the 5 s after which common servers close idle connections, so that none is closed under a send."""
REACH_SECONDS = 15.0
SUSPECT_AGE_SECONDS = 60.0
"""A connection failure replaces connections older than this: the pool itself may have died."""
MOST_BYTES = 16 * 2**20
"""Of one answer. The longest that any model may give is a small part of it."""
_PIECE = 2**16
_NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
)
"""After any other end of a connection the endpoint may have read the request, and may bill it."""


class _Connections:
    """One pool, and the sends that still use it."""

    def __init__(self, settings: LlmSettings, authorization: Mapping[str, str], born: float) -> None:
        self.born = born
        self.users = 0
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=settings.concurrency.max, limit_per_host=0, keepalive_timeout=KEEP_ALIVE_SECONDS
            ),
            # The whole of a send has a deadline of its own.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=settings.connect_timeout_seconds),
            headers={"Accept": "application/json", **authorization},
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=True,
        )


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Looked up by names in any case."""
    body: bytes


class EndpointClient:
    """One send to the endpoint and what came of it: no retries, no judgement of the answer. Belongs to one loop."""

    def __init__(self, settings: LlmSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._secret = settings.api_key.get_secret_value()
        self._connections: _Connections | None = None
        parts = urlsplit(settings.base_url)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        """The base URL as it may be shown."""
        # A name and password in the URL are basic authentication, unless there is a key.
        basic = "@" in parts.netloc and not self._secret
        self._url = settings.base_url if basic else self.address
        self._authorization = {} if basic else {"Authorization": f"Bearer {self._secret or 'none'}"}

    async def send(self, body: dict[str, Any], deadline_seconds: float | None = None) -> Completion:
        """Raises TransientLlmFailure or PermanentLlmFailure."""
        seconds = deadline_seconds or self._settings.request_timeout_seconds
        answer = await self._exchange("POST", "/chat/completions", seconds, to_json(body))
        if answer.status >= 400:
            unfinished = rejected_generation(_said(answer))
            if unfinished is None:
                raise self._failure(answer)
            return Completion(unfinished, "", "stop", None, None)
        try:
            return parse_completion(answer.body)
        except ValueError as error:
            failure = TransientLlmFailure(Fault(kind="server_error", detail=str(error)))
            failure.read = read_without_answer(answer.body)
            raise failure from None

    async def transfer(
        self,
        method: str,
        path: str,
        seconds: float,
        body: bytes | aiohttp.FormData | None = None,
        most_bytes: int | None = None,
    ) -> bytes:
        """The body of what is answered to anything but a question; without `most_bytes` it may be as long as an
        answer. Raises TransientLlmFailure or PermanentLlmFailure."""
        answer = await self._exchange(method, path, seconds, body, most_bytes)
        if answer.status >= 400:
            raise self._failure(answer)
        return answer.body

    async def reach(self) -> None:
        """Raises TransientLlmFailure when no server answers. Whatever a server answers is good enough: not all list
        their models, and the first question tells more about key and model."""
        await self._exchange("GET", "/models", REACH_SECONDS)

    async def aclose(self) -> None:
        """Sends still in flight fail."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.session.close()

    async def _exchange(
        self,
        method: str,
        path: str,
        seconds: float,
        body: bytes | aiohttp.FormData | None = None,
        most_bytes: int | None = None,
    ) -> _Answer:
        connections, replaced = self._current()
        connections.users += 1
        headers = {"Content-Type": "application/json"} if isinstance(body, bytes) else {}
        try:
            await self._retire(replaced)
            async with (
                asyncio.timeout(seconds),
                connections.session.request(method, f"{self._url}{path}", data=body, headers=headers) as response,
            ):
                return _Answer(response.status, response.headers, await _received(response, most_bytes or MOST_BYTES))
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise self._unreached(error, seconds, connections) from None
        finally:
            connections.users -= 1
            await self._retire(connections)

    def _failure(self, answer: _Answer) -> TransientLlmFailure | PermanentLlmFailure:
        parsed = parse_error_body(_said(answer))
        body = parsed._replace(message=self._without_key(parsed.message))
        return failure_from_status(answer.status, answer.headers, body, self._clock.now())

    def _current(self) -> tuple[_Connections, _Connections | None]:
        """The connections to use, and those that they replaced just now."""
        now = self._clock.monotonic()
        old = self._connections
        if old is not None and now - old.born <= self._settings.connection_max_age_seconds:
            return old, None
        self._connections = _Connections(self._settings, self._authorization, now)
        return self._connections, old

    async def _retire(self, connections: _Connections | None) -> None:
        """Closes connections that have been replaced, once nobody uses them."""
        if connections is not None and connections is not self._connections and not connections.users:
            await connections.session.close()

    def _unreached(self, error: Exception, seconds: float, connections: _Connections) -> TransientLlmFailure:
        causes = list(_causes(error))
        if any(isinstance(cause, TimeoutError) for cause in causes):
            kind: FaultKind = "timeout"
            detail = f"no answer within {seconds:g} s"
        else:
            kind, detail = "connection", f"no connection: {type(causes[-1]).__name__}"
            if self._clock.monotonic() - connections.born > SUSPECT_AGE_SECONDS:
                connections.born = float("-inf")
        failure = TransientLlmFailure(Fault(kind=kind, detail=detail), overloaded=kind == "timeout")
        if not any(isinstance(cause, _NEVER_SENT) for cause in causes):
            failure.read = ReadTokens()
        return failure

    def _without_key(self, text: str) -> str:
        return text.replace(self._secret, "…") if self._secret else text


def _said(answer: _Answer) -> object:
    """The body of a refusal: JSON, or text."""
    try:
        said: object = json.loads(answer.body)
    except ValueError:
        return answer.body.decode(errors="replace")
    return said


async def _received(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    """Raises ClientPayloadError for a body that does not end."""
    pieces: list[bytes] = []
    size = 0
    async for piece in response.content.iter_chunked(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most_bytes:
            raise aiohttp.ClientPayloadError(f"an answer of more than {most_bytes} bytes")
    return b"".join(pieces)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
