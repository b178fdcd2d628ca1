"""Revision of the database tables, and migrations to the latest revision."""

import re
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from assayer.errors import ConfigurationError
from orchestrator.store.database_errors import DRIVER_ERRORS

AnyConnection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

VERSION_TABLE = "assayer_schema"
MIGRATION_LOCK = 4_717_150_208_310_026
"""Advisory lock that lets one process migrate a database at a time; an arbitrary constant."""
_MIGRATION = re.compile(r"^v(\d{4})_\w+\.py$")


def latest_revision() -> str:
    """Return the revision that this program needs, from file names, because importing alembic takes a second and
    the tables are usually up to date."""
    files = resources.files("orchestrator.store.migrations.versions").iterdir()
    return max(match[1] for match in (_MIGRATION.match(file.name) for file in files) if match)


async def current_revision(connection: AnyConnection) -> str | None:
    """Return the revision of the existing tables, or None if there are none."""
    if await connection.fetchval("SELECT to_regclass($1)", VERSION_TABLE) is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM assayer_schema")
    return revision


def refuse_newer_schema(revision: str | None) -> None:
    """Raise ConfigurationError if a newer version has changed the tables."""
    if revision is not None and revision > latest_revision():
        raise ConfigurationError(
            f"The database's tables are those of a newer assayer: revision {revision}, "
            f"this one knows {latest_revision()}.",
            "Upgrade assayer, or point ASSAYER_DATABASE__URL at another database.",
        )


async def upgrade_schema(connect: Callable[[], Awaitable["asyncpg.Connection[asyncpg.Record]"]]) -> None:
    """All missing migrations in one transaction, one process at a time; running it again changes nothing.

    Raises what asyncpg raises.
    """
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import Connection, text
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    def migrate(connection: Connection) -> None:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "orchestrator.store:migrations")
        command.upgrade(config, "head")

    engine = create_async_engine("postgresql+asyncpg://", async_creator=connect, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            await connection.run_sync(migrate)
    except DBAPIError as error:
        raise _driver_error(error) from error
    finally:
        await engine.dispose()


def _driver_error(error: BaseException) -> BaseException:
    """Return the error that asyncpg raised, without SQLAlchemy's wrappers."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, DRIVER_ERRORS):
        cause = cause.__cause__
    return cause or error
