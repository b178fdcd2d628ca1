"""One outside world a session, as new for every test, and the real door to it."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from cluster.clock import SystemClock
from simulator.outside.process import OutsideWorld
from simulator.outside.server import TWINS
from tests.contract.sources.specimens import LIBRARY, SPECIMENS, Specimen
from tests.loopback import loopback_only
from workers.outbound.sources import SourceGateway
from workers.outbound.store import InMemoryResponseCache, InMemorySharedState

_QUICK: dict[str, Any] = {"spacing_seconds": 0, "attempts": 2, "backoff_initial_seconds": 0.01}


@pytest.fixture(scope="session")
def running_world() -> Iterator[tuple[OutsideWorld, dict[str, dict[str, Any]]]]:
    with OutsideWorld(limits=False) as world:
        services = [make(LIBRARY).name for make in TWINS]
        yield world, {service: world.knobs(service) for service in services}


@pytest.fixture
def world(running_world: tuple[OutsideWorld, dict[str, dict[str, Any]]]) -> OutsideWorld:
    """Without limits, latency and faults."""
    world, knobs = running_world
    for service, given in knobs.items():
        world.configure(service, **given)
    world.reset()
    return world


@pytest.fixture
async def gateway(world: OutsideWorld) -> AsyncIterator[SourceGateway]:
    """To all specimens, with an empty cache; fails the test when a packet leaves loopback."""
    clock = SystemClock()
    settings = {
        name: specimen.settings(base_url=world.url(specimen.path), email="test@example.org", **_QUICK)
        for name, specimen in SPECIMENS.items()
    }
    with loopback_only() as outbound:
        async with SourceGateway(settings, InMemoryResponseCache(clock), InMemorySharedState(clock), clock) as gateway:
            yield gateway
    assert outbound.attempts == []


@pytest.fixture(params=SPECIMENS)
def specimen(request: pytest.FixtureRequest) -> Specimen:
    return SPECIMENS[request.param]
