"""Access to the configured database."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import TypeVar

from cluster.postgres import EmbeddedPostgres
from cluster.settings import Profile, Settings
from cluster.settings_loading import load_settings
from orchestrator.store import Database

T = TypeVar("T")


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the configured server, or the embedded server, after migrating it. Raises StorageError or
    ConfigurationError."""
    async with AsyncExitStack() as stack:
        ensure_running = imports = None
        if not settings.database.url:
            server = EmbeddedPostgres(settings.home / "postgres")
            if server.is_new:
                imports = asyncio.get_running_loop().run_in_executor(None, _import_migrations)
            ensure_running = (await stack.enter_async_context(server)).ensure
        database = await stack.enter_async_context(Database(settings.database, ensure_running))
        if imports is not None:
            await imports
        await database.migrate()
        yield database


def _import_migrations() -> None:
    """A second's imports, needed only where tables have to be made: while the server is set up.

    One after the other, and waited for: two threads that import SQLAlchemy at once can each see half of it.
    """
    for library in ("sqlalchemy.ext.asyncio", "alembic.command"):
        import_module(library)


def with_database(profile: Profile, work: Callable[[Database], Awaitable[T]]) -> T:
    """Run the work with the database on an event loop of its own. Raises what `open_database`, the settings and the
    work raise."""

    async def run() -> T:
        async with open_database(load_settings(profile)) as database:
            return await work(database)

    return asyncio.run(run())
