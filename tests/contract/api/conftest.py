"""The API with two tenants, over an empty database."""

from collections.abc import AsyncIterator

import pytest

from orchestrator.store import Database, NotificationListener
from tests.contract.api.service import ACME, OTHER, Service


@pytest.fixture
async def listener(database: Database) -> AsyncIterator[NotificationListener]:
    async with NotificationListener(database) as listening:
        yield listening


@pytest.fixture
async def service(database: Database, listener: NotificationListener) -> Service:
    made = Service.of(database, listener)
    await made.tenant(ACME)
    await made.tenant(OTHER)
    return made
