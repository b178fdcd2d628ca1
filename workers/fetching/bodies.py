"""Receives one body in pieces, and gives it up as soon as it breaks a limit."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from aiohttp import ClientResponse

from assayer.errors import DownloadRefused
from assayer.ports import Clock
from workers.fetching.kinds import SNIFFED, Kind, check_kind, check_type
from workers.fetching.pacing import Pace
from workers.fetching.settings import DownloadLimits

__all__ = ["Received", "Write", "receive"]

Write = Callable[[bytes], Awaitable[None]]

_PIECE = 65_536
_PACKINGS = ("", "identity", "gzip", "x-gzip", "deflate")
"""Content codings that are asked for; aiohttp unpacks them piece by piece."""


class Received(NamedTuple):
    kind: Kind
    size: int
    sha256: str


async def receive(
    response: ClientResponse,
    where: str,
    wanted: Collection[Kind],
    limits: DownloadLimits,
    write: Write,
    clock: Clock,
) -> Received:
    """Hands the unpacked body to `write`. Raises DownloadRefused, and ClientError when the body breaks off."""
    _check_headers(response, where, wanted, limits)
    start, size, digest = b"", 0, hashlib.sha256()
    kind: Kind | None = None
    pace = Pace(clock.monotonic(), limits.slowest, limits.patience)
    while piece := await _next(response, where, limits):
        size += len(piece)
        if size > limits.bytes:
            raise DownloadRefused(f"{where} has, or unpacks to, more than {limits.bytes / 1e6:g} MB.")
        if pace.crawls(clock.monotonic(), len(piece)):
            raise _crawling(where, limits)
        digest.update(piece)
        if kind is None:
            start += piece
            if len(start) < SNIFFED:
                continue
            piece, kind = start, check_kind(start[:SNIFFED], _type(response), wanted, where)
        await write(piece)
    if kind is None:
        kind = check_kind(start, _type(response), wanted, where)
        await write(start)
    return Received(kind, size, digest.hexdigest())


def _check_headers(response: ClientResponse, where: str, wanted: Collection[Kind], limits: DownloadLimits) -> None:
    length = response.content_length
    if length is not None and length > limits.bytes:
        raise DownloadRefused(f"{where} has {length / 1e6:,.1f} MB; {limits.bytes / 1e6:g} MB are taken.")
    packing = response.headers.get("Content-Encoding", "").strip().lower()
    if packing not in _PACKINGS:
        raise DownloadRefused(f"{where} is packed as {packing[:40]!r}, which was not asked for.")
    check_type(_type(response), wanted, where)


def _type(response: ClientResponse) -> str:
    """Empty when the server does not say; aiohttp would put a default in its place."""
    return response.content_type if response.headers.get("Content-Type", "").strip() else ""


async def _next(response: ClientResponse, where: str, limits: DownloadLimits) -> bytes:
    try:
        async with asyncio.timeout(limits.patience):
            return await response.content.read(_PIECE)
    except TimeoutError:
        raise _crawling(where, limits) from None


def _crawling(where: str, limits: DownloadLimits) -> DownloadRefused:
    return DownloadRefused(
        f"{where} came at less than {limits.slowest:,.0f} bytes a second over {limits.patience:g} s."
    )
