"""The door to the simulated world, and what that world knows."""

import datetime as dt
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.simulator.outside.library import Library
from benchmarks.simulator.outside.process import OutsideWorld
from benchmarks.simulator.outside.sample import SAMPLE
from tests.loopback import loopback_only
from workers.remote import Ask, Courier, MemoryReplies, MemoryTurns
from workers.remote.settings import CrossrefSettings, OpenAlexSettings, SourceSettings, UnpaywallSettings

__all__ = ["ASK", "KNOWN", "open_door"]

ASK = Ask("evaluation", 30.0)
KNOWN = Library(SAMPLE)

_SETTINGS: Mapping[str, tuple[type[SourceSettings], str]] = {
    "openalex": (OpenAlexSettings, "openalex"),
    "crossref": (CrossrefSettings, "crossref"),
    "unpaywall": (UnpaywallSettings, "unpaywall/v2"),
}


class _Clock:
    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@asynccontextmanager
async def open_door(world: OutsideWorld, source: str, **settings: Any) -> AsyncIterator[Courier]:
    """To one source, in no hurry-saving spacing unless told; fails the test when a packet leaves loopback."""
    kind, path = _SETTINGS[source]
    chosen = kind.model_validate({"base_url": world.url(path), "spacing_seconds": 0.0, **settings})
    clock = _Clock()
    with loopback_only() as outbound:
        async with Courier({source: chosen}, MemoryReplies(clock), MemoryTurns(clock), clock) as courier:
            yield courier
    assert outbound.attempts == []
