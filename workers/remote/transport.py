"""One request over the wire, inside its turn, its deadline and its limit of size."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import NamedTuple

import aiohttp
from yarl import URL

from workers.remote.failures import TransientFailure
from workers.remote.turn import Turn

__all__ = ["Answer", "Request", "TooLarge", "open_session", "send"]

_CHUNK = 64 * 1024
_EXCUSE = 4 * 1024
"""Bytes of the body that are read when the status is not that of an answer."""


class Request(NamedTuple):
    url: URL
    headers: Mapping[str, str]
    body: str | None
    """JSON; makes it a POST."""
    connect_seconds: float
    answer_seconds: float
    max_bytes: int


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class TooLarge(Exception):
    """The body is longer than the request allows."""


def open_session() -> aiohttp.ClientSession:
    """Keeps no cookies, looks at no environment."""
    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(_headers_leave)
    trace.on_request_chunk_sent.append(_body_leaves)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[trace]
    )


async def send(session: aiohttp.ClientSession, request: Request, turn: Turn) -> Answer:
    """Raises TurnLapsed, TransientFailure or TooLarge. Follows no redirect. Does not end the turn."""
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
            trace_request_ctx=turn,
        ) as response:
            turn.reached()
            answers = response.status < 300 or response.status in {404, 410}
            body = await _read(response.content, request.max_bytes) if answers else await response.content.read(_EXCUSE)
            return Answer(response.status, response.headers, body)
    except TimeoutError:
        raise TransientFailure(f"no answer within {request.answer_seconds:g} s") from None
    except (aiohttp.ClientError, OSError) as error:
        # Not chained: some of these quote the URL, and the key in it.
        raise TransientFailure(_words(error)) from None


async def _read(content: aiohttp.StreamReader, most: int) -> bytes:
    chunks: list[bytes] = []
    length = 0
    async for chunk in content.iter_chunked(_CHUNK):
        length += len(chunk)
        if length > most:
            raise TooLarge
        chunks.append(chunk)
    return b"".join(chunks)


def _words(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"no connection: {error.strerror or type(error.os_error).__name__}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the connection was closed without an answer"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the answer broke off"
    return f"the connection failed ({type(error).__name__})"


async def _headers_leave(
    _: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestHeadersSentParams
) -> None:
    """aiohttp calls this before it writes them; without a body they are written without giving way to others."""
    turn: Turn = context.trace_request_ctx
    turn.check()
    if params.method == "GET":
        asyncio.get_running_loop().call_soon(turn.sent)


async def _body_leaves(
    _: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestChunkSentParams
) -> None:
    """Headers and body of a POST are written together, right after this."""
    turn: Turn = context.trace_request_ctx
    asyncio.get_running_loop().call_soon(turn.sent)
