"""Connecting, migrating, and saying what is wrong."""

import asyncio
import socket
import time
from collections.abc import Iterator

import asyncpg
import pytest
from pydantic import SecretStr

from assayer.errors import ConfigurationError, StorageError
from orchestrator.store import Database, DatabaseSettings
from orchestrator.store.database import Connection, limit_outage_wait
from orchestrator.store.database_errors import strip_credentials
from orchestrator.store.migrator import MIGRATION_LOCK, get_latest_revision
from orchestrator.store.queue_depth import PgQueueDepth
from tests.contract.postgres_proxy import PostgresProxy
from tests.polling import wait_until_async
from tests.postgres import SharedPostgres, owner_url, serving_url


def build_settings(url: str, connect_seconds: float = 0.5) -> DatabaseSettings:
    return DatabaseSettings(url=SecretStr(url), connect_seconds=connect_seconds)


async def list_tables(url: str) -> set[str]:
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("""
            SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        """)
    finally:
        await connection.close()
    return {row["relname"] for row in rows}


async def migrate(url: str) -> None:
    async with Database(build_settings(url, connect_seconds=5.0)) as database:
        await database.migrate()


async def test_migrate_twice_changes_nothing(empty_database_url: str) -> None:
    await migrate(empty_database_url)
    await migrate(empty_database_url)

    assert await list_tables(empty_database_url) > {"answers", "jobs"}


async def test_concurrent_migrations_all_succeed(empty_database_url: str) -> None:
    await asyncio.gather(*(migrate(empty_database_url) for _ in range(6)))

    assert await list_tables(empty_database_url) > {"answers", "jobs"}


async def test_migrate_may_take_longer_than_any_other_statement(empty_database_url: str) -> None:
    """Simulates a migration of millions of rows."""
    settings = build_settings(empty_database_url, 5.0).model_copy(
        update={"command_seconds": 1.0, "patience_seconds": 1.0}
    )
    holder = await asyncpg.connect(empty_database_url)
    await holder.fetch("SELECT pg_advisory_lock($1)", MIGRATION_LOCK)

    async def migrate_slowly() -> None:
        async with Database(settings) as database:
            await database.migrate()

    task = asyncio.create_task(migrate_slowly())

    async def has_waited() -> bool:
        query = """
            SELECT FROM pg_stat_activity
            WHERE wait_event = 'advisory' AND clock_timestamp() - query_start > interval '1500 ms'
        """
        return task.done() or bool(await holder.fetch(query))

    await wait_until_async(has_waited)
    await holder.close()
    await task

    assert await list_tables(empty_database_url) > {"answers", "jobs"}


async def test_migrate_newer_tables_are_refused(empty_database_url: str) -> None:
    await migrate(empty_database_url)
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute("UPDATE assayer_schema SET version_num = '9999'")
    await connection.close()

    with pytest.raises(ConfigurationError, match="revision 9999"):
        await migrate(empty_database_url)


async def test_ping_good_server_names_version_and_revision(empty_database_url: str) -> None:
    before = await Database(build_settings(empty_database_url)).ping()
    await migrate(empty_database_url)
    after = await Database(build_settings(empty_database_url)).ping()

    assert before.revision is None
    assert after.server is not None
    assert after.server.startswith("PostgreSQL ")
    assert (after.revision, after.problem) == (get_latest_revision(), "")


async def test_ping_reports_a_missing_database(empty_database_url: str) -> None:
    health = await Database(build_settings(empty_database_url.replace("/test_", "/no_"))).ping()

    assert health.server is None
    assert "no database with that name" in health.problem
    assert "createdb" in health.problem


async def test_connect_reports_an_unknown_user(empty_database_url: str) -> None:
    with pytest.raises(StorageError, match="rejected the user or password") as caught:
        await Database(build_settings(empty_database_url.replace("postgres@", "nobody@"))).connect()

    assert "ASSAYER_DATABASE__URL" in caught.value.hint


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Bound and not listening: connections are refused, and nobody else can take it."""
    with socket.socket() as bound_socket:
        bound_socket.bind(("127.0.0.1", 0))
        yield bound_socket.getsockname()[1]


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def test_connection_failure_times_out_and_hides_the_password(closed_port: int) -> None:
    database = Database(build_settings(f"postgresql://me:sesame@127.0.0.1:{closed_port}/ore", connect_seconds=0.3))

    with pytest.raises(StorageError, match=f"at 127.0.0.1:{closed_port}/ore is unreachable") as caught:
        await database.connect()

    assert "sesame" not in repr(caught.value)
    assert "ASSAYER_DATABASE__URL" in caught.value.hint
    assert "sesame" not in (await database.ping()).problem


async def test_silent_server_times_out_on_connect(silent_port: int) -> None:
    with pytest.raises(StorageError, match="did not respond in time"):
        await Database(build_settings(f"postgresql://me@127.0.0.1:{silent_port}/ore", connect_seconds=0.2)).connect()


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:sesame@host/ore",
        "me:sesame@host",
        "postgresql://localhost:12/sesame@host/ore",
        "postgresql://[sesame/ore",
    ],
)
async def test_invalid_url_error_hides_the_password(url: str) -> None:
    database = Database(build_settings(url, connect_seconds=0.1))

    with pytest.raises((ConfigurationError, StorageError)) as caught:
        await database.connect()

    assert "sesame" not in repr(caught.value)
    assert "ASSAYER_DATABASE__URL" in caught.value.hint


@pytest.mark.parametrize(
    ("url", "shown_url"),
    [
        ("postgresql://me:sesame@db.example:5433/ore", "PostgreSQL at db.example:5433/ore"),
        ("postgresql://me:ses@me@db.example/ore", "PostgreSQL at db.example/ore"),
        ("postgresql://me:12/sesame@db.example/ore", "the database"),
        ("postgresql://me:12?sesame@db.example/ore", "the database"),
        ("postgresql://me@/ore?host=%2Frun%2Fpg&password=sesame", "PostgreSQL at /run/pg/ore"),
    ],
)
def test_address_never_shows_a_password(url: str, shown_url: str) -> None:
    assert strip_credentials(url) == shown_url


def test_printed_settings_hide_the_password() -> None:
    assert "sesame" not in repr(build_settings("postgresql://me:sesame@host/ore"))


def test_database_without_url_or_server_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="No database is configured"):
        Database(DatabaseSettings())


async def test_query_before_migration_reports_missing_tables(empty_database_url: str) -> None:
    async with Database(build_settings(empty_database_url)) as database:
        with pytest.raises(StorageError, match=r"does not contain assayer's tables"):
            await database.fetch("SELECT * FROM answers")


async def test_lost_connection_is_retried_on_another_connection(database: Database) -> None:
    backends: list[int] = []

    async def lose_the_first(connection: Connection) -> int:
        backends.append(await connection.fetchval("SELECT pg_backend_pid()"))
        if len(backends) == 1:
            await connection.fetchval("SELECT pg_terminate_backend(pg_backend_pid())")
        return backends[-1]

    done_by = await database.run(lose_the_first)

    assert backends[1:] == [done_by]
    assert backends[0] != done_by


async def test_slow_statement_is_not_repeated_and_is_named_in_the_log(
    empty_database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    slow = DatabaseSettings(url=SecretStr(empty_database_url), command_seconds=0.3, patience_seconds=20)
    attempts = 0

    async def work(connection: Connection) -> None:
        nonlocal attempts
        attempts += 1
        await connection.fetch("SELECT pg_sleep(30), 'the slow one'")

    async with Database(slow) as database:
        with pytest.raises(StorageError, match="took too long"):
            await database.run(work)
        assert await database.fetch("SELECT 1")
        rows = await database.fetch(
            "SELECT FROM pg_stat_activity WHERE query LIKE '%slow one%' AND state = 'active' "
            "AND pid <> pg_backend_pid()"
        )

    assert attempts == 1
    assert rows == []
    (message,) = [record.message for record in caplog.records if "timed out" in record.message]
    assert "the slow one" in message


async def test_statement_is_retried_after_server_stops_responding(database_url: str) -> None:
    async with PostgresProxy.run_before(database_url) as proxy:
        database_settings = DatabaseSettings(
            url=SecretStr(proxy.url), command_seconds=0.3, connect_seconds=0.3, patience_seconds=20
        )
        async with Database(database_settings) as database:
            await database.fetch("SELECT 1")
            proxy.hold()
            task = asyncio.create_task(database.fetch("SELECT 1 AS one"))
            await asyncio.sleep(1)  # longer than a statement may take
            proxy.let_go()
            assert [row["one"] for row in await task] == [1]


async def test_excess_statements_wait_for_a_free_connection(empty_database_url: str) -> None:
    few = DatabaseSettings(url=SecretStr(empty_database_url), max_connections=2)
    async with Database(few) as database:
        rows = await asyncio.gather(*(database.fetch_one("SELECT $1::int AS n", n) for n in range(50)))

    assert [row["n"] for row in rows if row is not None] == list(range(50))


async def test_request_learns_of_an_outage_within_seconds_while_a_job_waits(database_url: str) -> None:
    async with PostgresProxy.run_before(database_url) as proxy, Database(build_settings(proxy.url, 5.0)) as database:
        await database.fetch("SELECT 1")
        await proxy.cut_connections()
        waiting = asyncio.create_task(database.fetch("SELECT 2"))
        start = time.monotonic()
        with limit_outage_wait(2.0), pytest.raises(StorageError):
            await database.fetch("SELECT 3")
        assert time.monotonic() - start < 4
        assert not waiting.done()
        await proxy.restore()
        assert [row[0] for row in await waiting] == [2]


async def test_serving_role_waits_for_the_owner_and_may_not_change_tables(postgres: SharedPostgres) -> None:
    await postgres.migrated_database()  # makes the role
    owners = await postgres.empty_database()
    serving = build_settings(serving_url(owners), connect_seconds=5.0)
    async with Database(serving) as database:
        with pytest.raises(ConfigurationError, match="assayer admin migrate"):
            await database.await_schema(seconds=0.1)
        async with Database(build_settings(owners, connect_seconds=5.0)) as owner:
            await owner.migrate()
            await owner.grant_service_privileges("serving")
            with pytest.raises(ConfigurationError, match="no role 'nemo'"):
                await owner.grant_service_privileges("nemo")
        await database.await_schema(seconds=0.1)
        for statement in (
            "DROP TRIGGER append_only ON audit_log",
            "ALTER TABLE audit_log DISABLE TRIGGER append_only",
            "DELETE FROM audit_log",
            "UPDATE assayer_schema SET version_num = '0000'",
            "CREATE TABLE anything ()",
        ):
            with pytest.raises(StorageError, match="denied the user permission"):
                await database.execute(statement)


async def test_scaling_role_measures_the_queue_and_reads_nothing_else(postgres: SharedPostgres) -> None:
    owners = await postgres.migrated_database()
    connection = await asyncpg.connect(owner_url(owners))
    await connection.execute("DROP ROLE IF EXISTS scaling; CREATE ROLE scaling LOGIN")
    await connection.execute("INSERT INTO tenants (id, name) VALUES ('tenant', 'name')")
    await connection.execute(
        "INSERT INTO jobs (id, tenant, kind, priority, state, subject, request) "
        "VALUES ('ev_1', 'tenant', 'evaluation', 0, 'queued', 'a subject', '{}')"
    )
    async with Database(build_settings(owner_url(owners), connect_seconds=5.0)) as owner:
        await owner.grant_queue_privileges("scaling")
        with pytest.raises(ConfigurationError, match="no role 'nemo'"):
            await owner.grant_queue_privileges("nemo")
    async with Database(
        build_settings(owner_url(owners).replace("postgres@", "scaling@"), connect_seconds=5.0)
    ) as database:
        await database.await_schema(seconds=0.1)
        assert (await PgQueueDepth(database).measure()).interactive.jobs == 1
        for statement in (
            "SELECT subject FROM jobs",
            "SELECT request FROM jobs",
            "SELECT * FROM api_keys",
            "SELECT name FROM tenants",
            "SELECT * FROM evaluations",
            "UPDATE jobs SET state = 'cancelled'",
        ):
            with pytest.raises(StorageError, match="denied the user permission"):
                await database.fetch(statement)
    await connection.execute("DROP OWNED BY scaling; DROP ROLE scaling")
    await connection.close()
