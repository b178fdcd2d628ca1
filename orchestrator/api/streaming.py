"""Streams of events that are held open, and do not tell more often than anybody reads."""

from collections.abc import AsyncIterator
from typing import Protocol

from fastapi import Request

from assayer.ports import Clock
from orchestrator.api.security import Reader
from orchestrator.api.services import OpenStreams

__all__ = ["held_open", "settled"]

_LEAST_SECONDS = 1.0


class _Heard(Protocol):
    async def next(self, timeout: float) -> object: ...


async def held_open(request: Request, caller: Reader, streams: OpenStreams) -> AsyncIterator[None]:
    """A dependency: the request counts as a stream. Raises Refusal when there are too many."""
    with streams.held(caller.key, request.scope):
        yield


async def settled(heard: _Heard, clock: Clock, most: float) -> None:
    """Returns a second after anything was heard, so that much at once is told once; at the latest after `most`."""
    if await heard.next(most) is None:
        return
    until = clock.monotonic() + _LEAST_SECONDS
    while (rest := until - clock.monotonic()) > 0:
        await heard.next(rest)
