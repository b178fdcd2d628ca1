"""The real door to a small source, and how tests ask through it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from assayer.ports import Clock
from cluster.clock import SystemClock
from tests.contract.small_source import Asked, SmallSource
from workers.remote import SourceSettings
from workers.remote.call import Ask, Call, Reply
from workers.remote.courier import Courier
from workers.remote.replies import MemoryReplies
from workers.remote.turns import MemoryTurns

__all__ = ["CLOCK", "QUICK", "Held", "call", "courier", "fetch"]

CLOCK = SystemClock()
QUICK: dict[str, Any] = {"spacing_seconds": 0.0, "backoff_initial_seconds": 0.01, "backoff_max_seconds": 0.02}


@asynccontextmanager
async def courier(
    source: SmallSource, kind: type[SourceSettings] = SourceSettings, clock: Clock = CLOCK, **fields: Any
) -> AsyncIterator[Courier]:
    settings = kind(**{"base_url": source.url, **QUICK, **fields})
    async with Courier({"small": settings}, MemoryReplies(CLOCK), MemoryTurns(CLOCK), clock) as opened:
        yield opened


def call(path: str = "papers/1", **fields: Any) -> Call:
    return Call(**{"source": "small", "operation": "search", "path": path, **fields})


async def fetch(courier: Courier, path: str = "papers/1", asker: str = "ev", patience: float = 60.0) -> Reply:
    return await courier.fetch(call(path), Ask(asker, patience))


class Held:
    """Answers nobody until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, asked: Asked) -> web.StreamResponse:
        await self.opened.wait()
        return web.Response(text=f"about {asked.path}")
