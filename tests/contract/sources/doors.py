"""Doors to one source with settings of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.simulator.outside.process import OutsideWorld
from cluster.clock import SystemClock
from tests.contract.sources.specimens import SPECIMENS
from tests.loopback import loopback_only
from workers.remote.courier import Courier
from workers.remote.replies import MemoryReplies
from workers.remote.turns import MemoryTurns

__all__ = ["open_door"]


@asynccontextmanager
async def open_door(world: OutsideWorld, source: str, **settings: Any) -> AsyncIterator[Courier]:
    """Without spacing, key and e-mail address unless told; fails the test when a packet leaves loopback."""
    specimen, clock = SPECIMENS[source], SystemClock()
    given = {"base_url": world.url(specimen.path), "spacing_seconds": 0.0, **settings}
    with loopback_only() as outbound:
        async with Courier(
            {source: specimen.settings(**given)}, MemoryReplies(clock), MemoryTurns(clock), clock
        ) as courier:
            yield courier
    assert outbound.attempts == []
