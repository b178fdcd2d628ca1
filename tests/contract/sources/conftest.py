"""One simulated outside world per session, reset for every test, and the real gateway to it."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from simulator.outside.process import OutsideWorld
from tests.contract.small_source_gateway import create_in_memory_gateway
from tests.contract.sources.crowds import run_crowded_world
from tests.contract.sources.specimens import SPECIMENS, Specimen
from workers.outbound.source_gateway import SourceGateway

_QUICK: dict[str, Any] = {"spacing_seconds": 0, "attempts": 2, "backoff_initial_seconds": 0.01}


@pytest.fixture
async def gateway(world: OutsideWorld) -> AsyncIterator[SourceGateway]:
    """Open a gateway to all specimens, with an empty cache; the test fails if a packet leaves loopback."""
    settings = {
        name: specimen.settings(base_url=world.url(specimen.path), email="test@example.org", **_QUICK)
        for name, specimen in SPECIMENS.items()
    }
    async with create_in_memory_gateway(settings) as gateway:
        yield gateway


@pytest.fixture(params=SPECIMENS)
def specimen(request: pytest.FixtureRequest) -> Specimen:
    return SPECIMENS[request.param]


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OutsideWorld]:
    """Outside world with more papers on one topic than fit on a page."""
    with run_crowded_world(tmp_path_factory.mktemp("crowd")) as world:
        yield world
