"""Source gateways to one source with settings of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from simulator.outside.process import OutsideWorld
from tests.contract.small_source_gateway import create_in_memory_gateway
from tests.contract.sources.specimens import SPECIMENS
from tests.loopback import loopback_only
from workers.outbound.source_gateway import SourceGateway


@asynccontextmanager
async def open_gateway(world: OutsideWorld, source: str, **settings: Any) -> AsyncIterator[SourceGateway]:
    """Open a gateway, by default without spacing, key and email address; the test fails if a packet leaves loopback."""
    specimen = SPECIMENS[source]
    source_settings = {"base_url": world.url(specimen.path), "spacing_seconds": 0.0, **settings}
    with loopback_only() as outbound:
        async with create_in_memory_gateway({source: specimen.settings(**source_settings)}) as gateway:
            yield gateway
    assert outbound.attempts == []
