"""The PostgreSQL of a test run: one server for all workers, and databases that are copies of a template."""

import asyncio
from pathlib import Path
from uuid import uuid4

import asyncpg
from pydantic import SecretStr

from cluster.postgres import EmbeddedPostgres
from orchestrator.store import Database, DatabaseSettings
from tests.run_folder import make_once

_TEMPLATE = "migrated"
_ROLE = "serving"
_OWNER, _SERVING = "//postgres@", f"//{_ROLE}@"


def owner_url(url: str) -> str:
    """Return the URL of the same database for the role that owns its tables."""
    return url.replace(_SERVING, _OWNER)


def serving_url(url: str) -> str:
    """Return the URL of the same database for the role that the service uses."""
    return url.replace(_OWNER, _SERVING)


class SharedPostgres:
    """Server shared by processes that name the same folder: started by the first, stopped by the last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = EmbeddedPostgres(folder / "postgres", durable=False)

    def start(self) -> None:
        self._url = asyncio.run(self._server.ensure())

    def stop(self) -> None:
        asyncio.run(self._server.close())

    async def empty_database(self) -> str:
        """Return the URL of a new database without tables."""
        return await self._create("")

    async def migrated_database(self) -> str:
        """Return the URL of a new database with all tables, empty, for a role that owns none of them. The tables are
        created once a run."""
        await asyncio.to_thread(make_once, self._folder / _TEMPLATE, lambda: asyncio.run(self._make_template()))
        return serving_url(await self._create(f"TEMPLATE {_TEMPLATE}"))

    async def _make_template(self) -> None:
        await self._execute(f"DROP DATABASE IF EXISTS {_TEMPLATE}")
        await self._execute(f"CREATE DATABASE {_TEMPLATE}")
        async with Database(DatabaseSettings(url=SecretStr(self._url_of(_TEMPLATE)))) as database:
            await database.migrate()
            await self._execute(f"CREATE ROLE {_ROLE} LOGIN")
            await database.grant_service_privileges(_ROLE)

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
