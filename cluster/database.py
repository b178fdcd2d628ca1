"""Binds the store to the database that the settings name."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from cluster.postgres import EmbeddedPostgres
from cluster.settings import Settings
from orchestrator.store import Database

__all__ = ["open_database"]


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The configured server, or the embedded one, migrated. Raises StorageError or ConfigurationError."""
    async with AsyncExitStack() as stack:
        revive = None
        if not settings.database.url:
            revive = (await stack.enter_async_context(EmbeddedPostgres(settings.home / "postgres"))).ensure
        database = await stack.enter_async_context(Database(settings.database, revive))
        await database.migrate()
        yield database
