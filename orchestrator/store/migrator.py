"""The database's schema revision, migrations to the latest revision, and the privileges of the service's roles."""

from importlib import resources
from importlib.resources.abc import Traversable
from typing import TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from assayer.errors import ConfigurationError

AnyConnection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

MIGRATION_LOCK = 4_717_150_208_310_026
"""Key of the advisory lock that lets only one process migrate a database at a time; an arbitrary constant."""


def get_latest_revision() -> str:
    """Return the schema revision that this version of assayer needs."""
    return max(_list_scripts())


def _list_scripts() -> dict[str, Traversable]:
    """Return the SQL scripts, such as `v0001_baseline.sql`, by revision."""
    files = resources.files("orchestrator.store.migrations").iterdir()
    return {file.name[1:5]: file for file in files if file.name.endswith(".sql")}


async def get_current_revision(connection: AnyConnection) -> str | None:
    """Return the revision of the existing tables, or None if there are none."""
    if await connection.fetchval("SELECT to_regclass('assayer_schema')") is None:
        return None
    revision: str | None = await connection.fetchval("SELECT max(version_num) FROM assayer_schema")
    return revision


def refuse_newer_schema(revision: str | None) -> None:
    """Raise ConfigurationError if the tables belong to a newer version of assayer."""
    if revision is not None and revision > get_latest_revision():
        raise ConfigurationError(
            f"The database's tables were created by a newer version of assayer: they have revision {revision}, "
            f"but this version supports {get_latest_revision()}.",
            "Upgrade assayer, or point ASSAYER_DATABASE__URL at another database.",
        )


async def upgrade_schema(connection: AnyConnection, seconds: float) -> None:
    """Run all outstanding migrations in one transaction, in one process at a time; running this again changes nothing.
    `seconds` is the timeout for each migration."""
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})", timeout=seconds)
        await connection.execute("CREATE TABLE IF NOT EXISTS assayer_schema (version_num text PRIMARY KEY)")
        stored_revision = await get_current_revision(connection) or ""
        for revision, script in sorted(_list_scripts().items()):
            if revision > stored_revision:
                await connection.execute(script.read_text(encoding="utf-8"), timeout=seconds)
                await connection.execute("INSERT INTO assayer_schema VALUES ($1)", revision)


async def grant_service_privileges(connection: AnyConnection, role: str) -> None:
    """Grant a role the privileges that the service needs: it can read and write rows, but cannot alter tables and can
    only append to the audit log. The role must exist."""
    quoted: str = await connection.fetchval("SELECT quote_ident($1)", role)
    async with connection.transaction():
        await connection.execute(f"""
            GRANT USAGE ON SCHEMA public TO {quoted};
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {quoted};
            GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {quoted};
            REVOKE INSERT, UPDATE, DELETE ON assayer_schema FROM {quoted};
            REVOKE UPDATE, DELETE ON audit_log FROM {quoted};
            REVOKE UPDATE ON audit_contents, remarks FROM {quoted};
        """)


async def grant_queue_privileges(connection: AnyConnection, role: str) -> None:
    """Grant a role only the privileges needed to measure the queue's depth. The role must exist."""
    quoted: str = await connection.fetchval("SELECT quote_ident($1)", role)
    async with connection.transaction():
        await connection.execute(f"""
            GRANT USAGE ON SCHEMA public TO {quoted};
            GRANT SELECT (tenant, priority, state, ready_at, reserved_usd) ON jobs TO {quoted};
            GRANT SELECT (id, max_running, monthly_usd) ON tenants TO {quoted};
            GRANT SELECT ON spending, assayer_schema TO {quoted};
        """)
