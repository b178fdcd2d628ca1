"""Access to PostgreSQL: a connection pool, timeouts, and retries after a lost connection."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeAlias, TypeVar

import asyncpg
from asyncpg.connection import LoggedQuery
from asyncpg.pool import PoolConnectionProxy
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from assayer.errors import AssayerError, ConfigurationError, StorageError
from assayer.models import Frozen
from orchestrator.settings import DatabaseSettings
from orchestrator.store import migrator
from orchestrator.store.database_errors import DRIVER_ERRORS, RETRYABLE_ERRORS, strip_credentials, translate_error
from orchestrator.store.rows import Row, from_row

_LOG = logging.getLogger(__name__)
_MAX_LOGGED_CHARS = 400
_MIGRATION_SECONDS = 7_200.0
"""Timeout in seconds for migrations, which run at the first start after an upgrade."""
_OUTAGE_SECONDS: ContextVar[float] = ContextVar("outage_seconds", default=math.inf)
"""Maximum seconds that work waits for an unreachable server, if less than `patience_seconds`."""
_MIGRATION_POLL_SECONDS = 5.0
T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S", bound="Store")
Connection: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"
StartServer: TypeAlias = Callable[[], Awaitable[str]]
"""A function that makes sure that a server is running, and returns its URL."""


class DatabaseHealth(Frozen):
    """State of the database as reported by `assayer doctor`."""

    address: str
    server: str | None
    """Server version, such as `PostgreSQL 18.4`; None if the server does not respond."""
    revision: str | None
    """Schema revision of the tables; None before they are created."""
    problem: str
    """Sentence that describes the problem; empty if there is none."""


class Outage(NamedTuple):
    """Duration for which the server was unreachable, and the monotonic time at which it became reachable again."""

    seconds: float
    ended_at: float


@contextmanager
def limit_outage_wait(seconds: float) -> Iterator[None]:
    """Stop trying to reach an unreachable database server after this many seconds, so that callers learn about an
    outage quickly. Statement timeouts are unchanged."""
    token = _OUTAGE_SECONDS.set(seconds)
    try:
        yield
    finally:
        _OUTAGE_SECONDS.reset(token)


class _ConnectionLost(Exception):
    """Raised when the connection was lost during work that can be repeated."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


async def _skip_reset(_: migrator.AnyConnection) -> None:
    """Disable asyncpg's reset query, which it sends whenever a connection is released; our statements leave no state in
    a session."""


class Database:
    """Access to the database, owned by the composition root; use as an async context manager.

    Every operation raises StorageError (ConfigurationError for an unusable URL), never a driver's error."""

    last_outage: Outage | None = None
    _lost_at: float | None = None
    """Monotonic time at which the server became unreachable; None while it is believed to be reachable."""

    def __init__(self, settings: DatabaseSettings, start_server: StartServer | None = None) -> None:
        """Prepare access. `start_server` is used if the settings have no URL; it is called before every new
        connection."""
        if not settings.url and start_server is None:
            raise ConfigurationError("No database is configured.", "Set ASSAYER_DATABASE__URL.")
        self._settings = settings
        self._url = settings.url.get_secret_value() if settings.url else None
        self._direct_url = settings.direct_url.get_secret_value() if settings.direct_url else None
        self._start_server = start_server
        self._address = strip_credentials(self._url) if self._url else "the embedded PostgreSQL"
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self) -> None:
        """Create the pool and check that the server responds. Raises StorageError if it does not, and
        ConfigurationError if the URL is unusable."""
        if self._pool is None:
            self._pool = asyncpg.create_pool(
                min_size=0,
                max_size=self._settings.max_connections,
                connect=self._connect,
                reset=_skip_reset,
            )
            await self._pool
        max_seconds = self._settings.connect_seconds if self._url else self._settings.patience_seconds
        try:
            await self.run(lambda connection: connection.execute("SELECT 1"), max_seconds)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(self._settings.connect_seconds):
                await pool.close()
        except TimeoutError:
            pool.terminate()

    async def migrate(self) -> None:
        """Migrate the tables to the latest revision, with a timeout long enough for large tables. Concurrent calls from
        many processes are safe."""
        revision = await self.run(migrator.get_current_revision)
        migrator.refuse_newer_schema(revision)
        if revision != migrator.get_latest_revision():
            upgrade = partial(migrator.upgrade_schema, seconds=_MIGRATION_SECONDS)
            await self.run(upgrade, _MIGRATION_SECONDS)

    async def await_schema(self, seconds: float = _MIGRATION_SECONDS) -> None:
        """Wait until another role has migrated the tables to the latest revision. Raises ConfigurationError if that
        takes longer than `seconds`, and immediately if the tables belong to a newer version of assayer."""
        deadline, latest = time.monotonic() + seconds, migrator.get_latest_revision()
        while (revision := await self.run(migrator.get_current_revision)) != latest:
            migrator.refuse_newer_schema(revision)
            state = (
                f"The database's tables are at revision {revision or 'none'}; this version of assayer needs {latest}."
            )
            if time.monotonic() > deadline:
                raise ConfigurationError(state, "Run `assayer admin migrate` as the role that owns the tables.")
            _LOG.warning("%s Waiting for `assayer admin migrate`.", state)
            await asyncio.sleep(min(_MIGRATION_POLL_SECONDS, seconds))

    async def grant_service_privileges(self, role: str) -> None:
        """Grant an existing role the privileges that the service needs. Raises ConfigurationError if the role does not
        exist."""
        await self._require_role(role)
        await self.run(partial(migrator.grant_service_privileges, role=role))

    async def grant_queue_privileges(self, role: str) -> None:
        """Grant an existing role the privileges needed to measure the queue's depth. Raises ConfigurationError if the
        role does not exist."""
        await self._require_role(role)
        await self.run(partial(migrator.grant_queue_privileges, role=role))

    async def _require_role(self, role: str) -> None:
        if not await self.fetch_one("SELECT true FROM pg_roles WHERE rolname = $1", role):
            raise ConfigurationError(f"The database server has no role {role!r}.", "Create it first: CREATE ROLE.")

    async def ping(self) -> DatabaseHealth:
        """Return the health of the database. Never raises, and does not require `connect`."""
        server = revision = None
        problem = ""
        try:
            async with asyncio.timeout(self._settings.connect_seconds + self._settings.command_seconds):
                connection = await self._connect()
                try:
                    server = f"PostgreSQL {await connection.fetchval('SHOW server_version')}"
                    revision = await migrator.get_current_revision(connection)
                    if await connection.fetchval("SELECT pg_is_in_recovery()"):
                        problem = "The server is a read-only standby. Point ASSAYER_DATABASE__URL at the primary."
                    migrator.refuse_newer_schema(revision)
                finally:
                    await connection.close()
        except AssayerError as error:
            problem = str(error)
        except DRIVER_ERRORS as error:
            problem = str(translate_error(error, self._address))
        return DatabaseHealth(address=self._address, server=server, revision=revision, problem=problem)

    async def connect_unpooled(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Open a connection outside the pool and any external pooler, for notifications and locks. The caller closes
        it. Raises the errors in `DRIVER_ERRORS`, StorageError or ConfigurationError."""
        return await self._connect_to(self._direct_url)

    @contextmanager
    def translate_driver_errors(self) -> Iterator[None]:
        """Convert driver errors to StorageError or ConfigurationError, for work on unpooled connections."""
        try:
            yield
        except DRIVER_ERRORS as error:
            raise translate_error(error, self._address) from error

    async def run(self, operation: Callable[[Connection], Awaitable[T]], seconds: float | None = None) -> T:
        """Run an operation on a connection, and rerun it on another one if the connection is lost. The operation must
        therefore be idempotent. `seconds` limits the total time; the default is `patience_seconds` in the settings."""
        max_seconds = self._settings.patience_seconds if seconds is None else seconds
        outage = min(max_seconds, _OUTAGE_SECONDS.get())
        last_error: Exception = TimeoutError(f"no free connection for {max_seconds:g} s")
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_ConnectionLost),
            wait=wait_random_exponential(multiplier=0.05, max=min(2.0, outage / 4)),
            stop=stop_after_delay(outage),
            reraise=True,
        )
        try:
            async with asyncio.timeout(max_seconds):
                try:
                    return await self._run_once(operation)
                except _ConnectionLost as error:
                    last_error = error.cause
                return await retrying(self._run_once, operation)
        except TimeoutError:
            raise translate_error(last_error, self._address) from last_error
        except _ConnectionLost as error:
            raise translate_error(error.cause, self._address) from error.cause

    @property
    def patience_seconds(self) -> float:
        return self._settings.patience_seconds

    async def fetch(self, query: str, *values: Any) -> list[asyncpg.Record]:
        return await self.run(lambda connection: connection.fetch(query, *values))

    async def fetch_one(self, query: str, *values: Any) -> asyncpg.Record | None:
        return await self.run(lambda connection: connection.fetchrow(query, *values))

    async def select(self, model: type[Row], query: str, *values: Any) -> list[Row]:
        """Return the rows of a query, converted by `from_row`."""
        return [from_row(model, row) for row in await self.fetch(query, *values)]

    async def select_one(self, model: type[Row], query: str, *values: Any) -> Row | None:
        return await self.run(lambda connection: select_one(connection, model, query, *values))

    async def execute(self, query: str, *values: Any) -> None:
        # Not Connection.execute, which would not reuse the prepared statement.
        await self.run(lambda connection: connection.fetch(query, *values))

    async def execute_in_chunks(self, query: str, *values: Any) -> int:
        """Repeat a query that changes some rows and returns them, until it returns none. Return the total number of
        changed rows."""
        total = 0
        while rows := await self.fetch(query, *values):
            total += len(rows)
        return total

    async def _run_once(self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        if self._pool is None:
            raise StorageError("The database is not connected.")
        try:
            async with self._pool.acquire() as connection:
                try:
                    if self._lost_at is not None:
                        await connection.fetchval("SELECT 1")
                        self._mark_reached()
                    return await operation(connection)
                except TimeoutError as error:
                    if await self._server_responds(connection):
                        raise StorageError(
                            f"{self._address[0].upper()}{self._address[1:]} took too long to execute a statement.",
                            "The log has the statement. The server may be overloaded, or an index missing.",
                        ) from error
                    raise
                except asyncpg.InterfaceError as error:
                    if _is_closed(connection):
                        raise self._mark_lost(error) from error
                    raise
        except RETRYABLE_ERRORS as error:
            raise self._mark_lost(error) from error
        except DRIVER_ERRORS as error:
            raise translate_error(error, self._address) from error

    async def _server_responds(self, connection: Connection) -> bool:
        """Return whether the server still responds. If it does, a timed-out statement was merely slow, and repeating it
        would not help."""
        try:
            return bool(await connection.fetchval("SELECT true", timeout=self._settings.connect_seconds))
        except DRIVER_ERRORS:
            return False

    def _mark_lost(self, error: Exception) -> _ConnectionLost:
        if self._lost_at is None:
            self._lost_at = time.monotonic()
        return _ConnectionLost(error)

    def _mark_reached(self) -> None:
        if self._lost_at is not None:
            now = time.monotonic()
            self.last_outage, self._lost_at = Outage(now - self._lost_at, now), None

    async def _connect(self, *_: object, **arguments: Any) -> "asyncpg.Connection[asyncpg.Record]":
        """Open a connection for the pool, which passes extra arguments."""
        return await self._connect_to(None, **arguments)

    async def _connect_to(self, url: str | None, **arguments: Any) -> "asyncpg.Connection[asyncpg.Record]":
        """Open a connection to `url`; if it is None, to the configured URL or to the server that `start_server`
        starts."""
        url = url or self._url or (await self._start_server() if self._start_server else "")
        try:
            connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
                url,
                timeout=self._settings.connect_seconds,
                server_settings={"application_name": "assayer"},
                **{"command_timeout": self._settings.command_seconds} | arguments,
            )
        except ValueError as error:  # the base class of asyncpg's ClientConfigurationError
            raise translate_error(error, self._address) from None
        connection.add_query_logger(_log_timeout)
        return connection


class Store:
    """Base class for access to some of the database's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database


async def select_one(connection: Connection, model: type[Row], query: str, *values: Any) -> Row | None:
    """Run a query in the caller's transaction and return its row, converted by `from_row`; None if there is no row."""
    row = await connection.fetchrow(query, *values)
    return None if row is None else from_row(model, row)


def in_transaction(
    method: Callable[Concatenate[S, Connection, P], Awaitable[T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Decorate a store's method so that it runs in its own transaction, and is rerun if the connection is lost. The
    method receives the connection as its first argument."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async def call_method(connection: Connection) -> T:
            async with connection.transaction():
                return await method(self, connection, *args, **kwargs)

        return await self._database.run(call_method)

    return run


def _log_timeout(query: LoggedQuery) -> None:
    """Log the statement that timed out, because the error does not identify it."""
    if isinstance(query.exception, TimeoutError):
        statement = " ".join(query.query.split())[:_MAX_LOGGED_CHARS]
        _LOG.warning("a statement timed out after %.1f s: %s", query.elapsed, statement)


def _is_closed(connection: Connection) -> bool:
    """Return whether a connection is closed. Checking a connection that was lost during a transaction raises an
    error, because it is no longer in the pool; this counts as closed."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True
