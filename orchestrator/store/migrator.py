"""The revision of the database's tables, the migrations to the latest one, and the months that some consist of."""

import re
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from assayer.errors import ConfigurationError

__all__ = [
    "LOCK_SECONDS",
    "MIGRATION_LOCK",
    "VERSION_TABLE",
    "AnyConnection",
    "add_coming_months",
    "current_revision",
    "latest_revision",
    "refuse_newer_schema",
    "upgrade_schema",
]

AnyConnection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

VERSION_TABLE = "assayer_schema"
MIGRATION_LOCK = 4_717_150_208_310_026
"""Advisory lock that lets one process migrate a database at a time; an arbitrary constant."""
LOCK_SECONDS = 3
"""How long statements of others may have to wait while a month is made or dropped; then it is left for another day."""
_COMING_MONTHS = """
    SELECT add_month(parent, (date_trunc('month', now() AT TIME ZONE 'UTC') + ahead * interval '1 month')::date)
    FROM unnest('{ledger,events}'::text[]) AS parent, generate_series(0, 3) AS ahead ORDER BY parent, ahead
"""
"""Three ahead: so long may nobody look after a database."""
_MIGRATION = re.compile(r"^v(\d{4})_\w+\.py$")


def latest_revision() -> str:
    """The revision that this program needs. Read from file names: importing alembic takes a second, and
    nearly every start finds the tables up to date."""
    files = resources.files("orchestrator.store.migrations.versions").iterdir()
    return max(match[1] for match in (_MIGRATION.match(file.name) for file in files) if match)


async def current_revision(connection: AnyConnection) -> str | None:
    """The revision of the tables that are there; None when there are none."""
    if await connection.fetchval("SELECT to_regclass($1)", VERSION_TABLE) is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM assayer_schema")
    return revision


def refuse_newer_schema(revision: str | None) -> None:
    """Raises ConfigurationError for tables that a newer version has changed."""
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


async def add_coming_months(connection: AnyConnection) -> None:
    """Those that are missing. None where the tables are in use for long: rows outside all months are kept beside them,
    and move into their own when it is made."""
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
            await connection.fetch(_COMING_MONTHS)
    except asyncpg.LockNotAvailableError:
        return


def _driver_error(error: BaseException) -> BaseException:
    """What asyncpg raised, without SQLAlchemy's wrappers."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, asyncpg.PostgresError | asyncpg.InterfaceError | OSError):
        cause = cause.__cause__
    return cause or error
