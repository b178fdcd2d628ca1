"""Receive a response body in pieces, stopping as soon as it is too large, too slow or of the wrong type."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from aiohttp import ClientResponse

from assayer.errors import DownloadRefused
from assayer.ports import Clock
from workers.fetching.content_types import SNIFFED_BYTES, ContentKind, check_declared_type, check_first_bytes
from workers.fetching.settings import DownloadLimits


class ThroughputMonitor:
    """Detects bodies that arrive too slowly. The rate is measured in consecutive windows, so that a fast start does not
    make up for a later slow one."""

    def __init__(self, started: float, min_bytes_per_second: float, grace_seconds: float) -> None:
        self._min_bytes = min_bytes_per_second * grace_seconds
        self._patience = grace_seconds
        self._period_start = started
        self._received_bytes = 0

    def is_too_slow(self, now: float, received: int) -> bool:
        """Return whether the body is too slow. `received` bytes arrived since the last call, up to time `now`."""
        self._received_bytes += received
        if now - self._period_start < self._patience:
            return False
        too_slow = self._received_bytes < self._min_bytes
        self._period_start, self._received_bytes = now, 0
        return too_slow


WritePiece = Callable[[bytes], Awaitable[None]]

_PIECE_BYTES = 65_536
_CONTENT_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
"""Accepted content codings; aiohttp decompresses them piece by piece."""


class ReceivedBody(NamedTuple):
    kind: ContentKind
    size: int
    sha256: str


async def receive_body(
    response: ClientResponse,
    url: str,
    accepted_kinds: Collection[ContentKind],
    limits: DownloadLimits,
    write: WritePiece,
    clock: Clock,
) -> ReceivedBody:
    """Pass the decompressed body to `write`. Raises DownloadRefused if it is not acceptable, and ClientError if it ends
    prematurely."""
    _check_headers(response, url, accepted_kinds, limits)
    start, size, digest = b"", 0, hashlib.sha256()
    kind: ContentKind | None = None
    throughput = ThroughputMonitor(clock.monotonic(), limits.slowest, limits.patience)
    while piece := await _read_next_piece(response, url, limits):
        size += len(piece)
        if size > limits.bytes:
            raise DownloadRefused(f"{url} is larger than {limits.bytes / 1e6:g} MB after decompression.")
        if throughput.is_too_slow(clock.monotonic(), len(piece)):
            raise _build_too_slow_error(url, limits)
        digest.update(piece)
        if kind is None:
            start += piece
            if len(start) < SNIFFED_BYTES:
                continue
            piece, kind = (
                start,
                check_first_bytes(start[:SNIFFED_BYTES], _get_declared_type(response), accepted_kinds, url),
            )
        await write(piece)
    if kind is None:
        kind = check_first_bytes(start, _get_declared_type(response), accepted_kinds, url)
        await write(start)
    return ReceivedBody(kind, size, digest.hexdigest())


def _check_headers(
    response: ClientResponse, url: str, accepted_kinds: Collection[ContentKind], limits: DownloadLimits
) -> None:
    length = response.content_length
    if length is not None and length > limits.bytes:
        raise DownloadRefused(f"{url} is {length / 1e6:,.1f} MB in size; the limit is {limits.bytes / 1e6:g} MB.")
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _CONTENT_ENCODINGS:
        raise DownloadRefused(f"{url} has the content encoding {encoding[:40]!r}, which is not supported.")
    check_declared_type(_get_declared_type(response), accepted_kinds, url)


def _get_declared_type(response: ClientResponse) -> str:
    """Return the declared content type, or an empty string if the server declares none, for which aiohttp would
    substitute a default."""
    return response.content_type if response.headers.get("Content-Type", "").strip() else ""


async def _read_next_piece(response: ClientResponse, url: str, limits: DownloadLimits) -> bytes:
    try:
        async with asyncio.timeout(limits.patience):
            return await response.content.read(_PIECE_BYTES)
    except TimeoutError:
        raise _build_too_slow_error(url, limits) from None


def _build_too_slow_error(url: str, limits: DownloadLimits) -> DownloadRefused:
    return DownloadRefused(f"{url} sent less than {limits.slowest:,.0f} bytes per second over {limits.patience:g} s.")
