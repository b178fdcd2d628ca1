"""The PostgreSQL of a test run: one server for all workers, and databases that are copies of a template."""

import asyncio
from pathlib import Path
from uuid import uuid4

import asyncpg
from pydantic import SecretStr

from cluster.postgres import EmbeddedPostgres
from orchestrator.store import Database, DatabaseSettings
from tests.run_folder import made_once

__all__ = ["SharedPostgres"]

_TEMPLATE = "migrated"


class SharedPostgres:
    """Starts with its first user, stops with its last: processes that name one folder share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = EmbeddedPostgres(folder / "postgres", durable=False)

    def start(self) -> None:
        self._url = asyncio.run(self._server.ensure())

    def stop(self) -> None:
        asyncio.run(self._server.close())

    async def empty_database(self) -> str:
        """The URL of a new one without tables."""
        return await self._create("")

    async def migrated_database(self) -> str:
        """The URL of a new one with all tables, empty. They are made once a run."""
        await asyncio.to_thread(made_once, self._folder / _TEMPLATE, lambda: asyncio.run(self._make_template()))
        return await self._create(f"TEMPLATE {_TEMPLATE}")

    async def _make_template(self) -> None:
        await self._execute(f"DROP DATABASE IF EXISTS {_TEMPLATE}")
        await self._execute(f"CREATE DATABASE {_TEMPLATE}")
        async with Database(DatabaseSettings(url=SecretStr(self._url_of(_TEMPLATE)))) as database:
            await database.migrate()

    async def _create(self, options: str) -> str:
        name = f"test_{uuid4().hex}"
        await self._execute(f"CREATE DATABASE {name} {options}")
        return self._url_of(name)

    def _url_of(self, name: str) -> str:
        return self._url.replace("/postgres?", f"/{name}?")

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self._url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()
