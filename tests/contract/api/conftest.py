"""The API with two tenants, over an empty database, and its callers."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import httpx2
import pytest

from orchestrator.store import Database, NotificationListener
from orchestrator.store.migrator import AnyConnection
from tests.contract.api.commands import Program
from tests.contract.api.people import Person, add_person
from tests.contract.api.service import ACME, OTHER, TEXT, Service, serve
from tests.postgres import owner_url


@pytest.fixture
async def table_owner(database_url: str) -> AsyncIterator[AnyConnection]:
    """A connection of the role that owns the tables, which the service itself does not have."""
    connection = await asyncpg.connect(owner_url(database_url))
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def listener(database: Database) -> AsyncIterator[NotificationListener]:
    async with NotificationListener(database) as opened_listener:
        yield opened_listener


@pytest.fixture
async def service(database: Database, listener: NotificationListener) -> Service:
    new_service = Service.build(database, listener)
    await new_service.create_tenant(ACME)
    await new_service.create_tenant(OTHER)
    return new_service


@pytest.fixture
def client(service: Service) -> httpx2.AsyncClient:
    return service.machine


@pytest.fixture
async def owner(service: Service) -> Person:
    return await add_person(service, "owner", "Olga Owner")


@pytest.fixture
async def officer(service: Service) -> Person:
    return await add_person(service, "officer", "Otto Officer")


@pytest.fixture
async def ada(service: Service) -> Person:
    """A reviewer."""
    return await add_person(service, "reviewer")


@pytest.fixture
async def program(service: Service, tmp_path: Path) -> AsyncIterator[Program]:
    """The commands for a served API, in a folder with files of ideas."""
    (tmp_path / "ideas").mkdir()
    (tmp_path / "ideas" / "risk.txt").write_text(TEXT)
    (tmp_path / "ideas" / "bad.pdf").write_text("no PDF at all")
    (tmp_path / "ideas" / "cutoff.txt").write_text("2024-01-01")
    (tmp_path / "ideas" / "notes.xyz").write_text("not an idea")
    async with serve(service.app) as url:
        yield Program(url, await service.create_key(), tmp_path)
