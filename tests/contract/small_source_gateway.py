"""The real source gateway to a small source, and how tests ask through it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from assayer.ports import Clock
from cluster.clock import SystemClock
from tests.contract.small_source import ReceivedRequest, SmallSource
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext, SourceRequest, SourceResponse
from workers.outbound.source_settings import SourceSettings
from workers.outbound.store import InMemoryResponseCache, InMemorySharedState

CLOCK = SystemClock()
QUICK: dict[str, Any] = {"spacing_seconds": 0.0, "backoff_initial_seconds": 0.01, "backoff_max_seconds": 0.02}


def create_in_memory_gateway(settings: Mapping[str, SourceSettings], clock: Clock = CLOCK) -> SourceGateway:
    """A gateway to these sources that keeps what it knows in memory."""
    return SourceGateway(settings, InMemoryResponseCache(CLOCK), InMemorySharedState(CLOCK), clock)


@asynccontextmanager
async def open_source_gateway(
    source: SmallSource, kind: type[SourceSettings] = SourceSettings, clock: Clock = CLOCK, **fields: Any
) -> AsyncIterator[SourceGateway]:
    async with create_in_memory_gateway(
        {"small": kind(**{"base_url": source.url, **QUICK, **fields})}, clock
    ) as gateway:
        yield gateway


def call(path: str = "papers/1", **fields: Any) -> SourceRequest:
    return SourceRequest(**{"source": "small", "operation": "search", "path": path, **fields})


async def fetch(
    gateway: SourceGateway, path: str = "papers/1", owner: str = "ev", patience: float = 60.0
) -> SourceResponse:
    return await gateway.fetch(call(path), RequestContext(owner, patience))


class HeldRequests:
    """Source that answers no request until it is released."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, request: ReceivedRequest) -> web.StreamResponse:
        await self.opened.wait()
        return web.Response(text=f"about {request.path}")
