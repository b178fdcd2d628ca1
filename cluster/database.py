"""Access to the configured database."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from assayer.errors import ConfigurationError
from cluster.postgres import EmbeddedPostgres
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from orchestrator.store import Database

T = TypeVar("T")


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the configured server or the embedded server. The database is migrated first or, if the settings say so,
    this waits until another process has migrated it. Raises StorageError if it cannot be used, ConfigurationError if
    its settings are invalid."""
    async with AsyncExitStack() as stack:
        ensure_running = None
        if not settings.database.url:
            if not settings.serving.one_machine:
                raise ConfigurationError(
                    "All nodes of a cluster must share one database.",
                    "Set ASSAYER_DATABASE__URL on the head and on every node that runs evaluators or the API.",
                )
            server = EmbeddedPostgres(settings.home / "postgres")
            ensure_running = (await stack.enter_async_context(server)).ensure
        database = await stack.enter_async_context(Database(settings.database, ensure_running))
        await (database.migrate() if settings.database.migrate else database.await_schema())
        yield database


def run_with_database(work: Callable[[Database], Awaitable[T]]) -> T:
    """Run `work` with the database, in a new event loop. Raises the errors of `open_database`, `load_settings` and
    `work`."""

    async def run() -> T:
        async with open_database(load_settings()) as database:
            return await work(database)

    return asyncio.run(run())
