"""A real PostgreSQL for the contract tests: one server a session, empty tables for every test."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from cluster.postgres import EmbeddedPostgres
from orchestrator.store import Database, DatabaseSettings

_NUMBERS = count()
_TABLES = (
    "answers",
    "ledger",
    "papers",
    "evaluations",
    "replies",
    "reply_claims",
    "turns",
    "viewpoint_graphs",
    "tenants",
    "key_rates",
)
_EMPTY = "; ".join(f"DELETE FROM {table}" for table in _TABLES)  # noqa: S608 - put together from constants
"""Not TRUNCATE, which makes new files for every table and index and takes twenty times as long. Cascades."""


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    # Not pytest's own temporary directory: as root the server runs as a user who may not pass through it.
    with tempfile.TemporaryDirectory(prefix="assayer-pg-") as folder:
        server = EmbeddedPostgres(Path(folder), durable=False)
        yield asyncio.run(server.ensure())
        asyncio.run(server.close())


async def _create_database(server_url: str, name: str) -> str:
    connection = await asyncpg.connect(server_url)
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    return server_url.replace("/postgres?", f"/{name}?")


@pytest.fixture
async def empty_database_url(server_url: str) -> str:
    """A database without tables."""
    return await _create_database(server_url, f"test_{next(_NUMBERS)}")


@pytest.fixture(scope="session")
def shared_url(server_url: str) -> str:
    return asyncio.run(_create_database(server_url, "shared"))


@pytest.fixture
async def database(shared_url: str) -> AsyncIterator[Database]:
    """Migrated and empty."""
    async with Database(DatabaseSettings(url=SecretStr(shared_url))) as opened:
        await opened.migrate()
        await opened.run(lambda connection: connection.execute(_EMPTY))
        yield opened
