"""The connection to PostgreSQL: a pool, deadlines, and retries after a lost connection."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

import asyncpg
from asyncpg.pool import PoolConnectionProxy
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from assayer.errors import AssayerError, ConfigurationError, StorageError
from assayer.models import Frozen
from orchestrator.settings import DatabaseSettings
from orchestrator.store import migrator
from orchestrator.store.database_errors import RETRYABLE_ERRORS, safe_address, translate_error

__all__ = ["Connection", "Database", "DatabaseHealth", "Outage", "StartServer"]

T = TypeVar("T")
Connection: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"
StartServer: TypeAlias = Callable[[], Awaitable[str]]
"""Makes sure that a server runs; returns its URL."""


class DatabaseHealth(Frozen):
    """What `assayer doctor` says about the database."""

    address: str
    server: str | None
    """`PostgreSQL 18.4`; None when it does not answer."""
    revision: str | None
    """Of the tables; None before they are created."""
    problem: str
    """In plain words; empty when all is well."""


class Outage(NamedTuple):
    """How long the server was out of reach of this process, and when on the monotonic clock it was reached again."""

    seconds: float
    ended_at: float


class _ConnectionLost(Exception):
    """The connection was lost in the middle of work that may be done again."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


async def _no_reset(_: migrator.AnyConnection) -> None:
    """Instead of asyncpg's reset query on every release: our statements leave no state in a session."""


class Database:
    """Owned by the composition root; use as an async context manager.

    Every operation raises StorageError (ConfigurationError for an unusable URL), never a driver's error.
    """

    last_outage: Outage | None = None
    _lost_at: float | None = None
    """Monotonic; None while the server is within reach, as far as anybody knows."""

    def __init__(self, settings: DatabaseSettings, start_server: StartServer | None = None) -> None:
        """`start_server` is for settings without a URL; it is called before every new connection."""
        if not settings.url and start_server is None:
            raise ConfigurationError("No database is configured.", "Set ASSAYER_DATABASE__URL.")
        self._settings = settings
        self._url = settings.url.get_secret_value() if settings.url else None
        self._direct_url = settings.direct_url.get_secret_value() if settings.direct_url else None
        self._start_server = start_server
        self._address = safe_address(self._url) if self._url else "the embedded PostgreSQL"
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        """Opens the first connection."""
        if self._pool is None:
            self._pool = asyncpg.create_pool(
                min_size=0,
                max_size=self._settings.max_connections,
                connect=self._connect,
                reset=_no_reset,
            )
            await self._pool
        patience = self._settings.connect_seconds if self._url else self._settings.patience_seconds
        try:
            await self._run(lambda connection: connection.execute("SELECT 1"), patience)
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
        """Brings the tables up to date, however large they are; many processes may do so at once."""
        revision = await self.run(migrator.current_revision)
        migrator.refuse_newer_schema(revision)
        if revision != migrator.latest_revision():
            seconds = self._settings.migration_seconds
            connect = partial(self._connect, command_timeout=seconds)
            await self.run(lambda _: migrator.upgrade_schema(connect), seconds)
        await self.run(migrator.add_coming_months)

    async def ping(self) -> DatabaseHealth:
        """Never raises, and needs no `connect`."""
        server = revision = None
        problem = ""
        try:
            async with asyncio.timeout(self._settings.connect_seconds + self._settings.command_seconds):
                connection = await self._connect()
                try:
                    server = f"PostgreSQL {await connection.fetchval('SHOW server_version')}"
                    revision = await migrator.current_revision(connection)
                    if await connection.fetchval("SELECT pg_is_in_recovery()"):
                        problem = "The server is a read-only standby. Point ASSAYER_DATABASE__URL at the primary."
                    migrator.refuse_newer_schema(revision)
                finally:
                    await connection.close()
        except AssayerError as error:
            problem = str(error)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            problem = str(translate_error(error, self._address))
        return DatabaseHealth(address=self._address, server=server, revision=revision, problem=problem)

    async def connect_unpooled(self) -> "asyncpg.Connection[asyncpg.Record]":
        """A connection outside of the pool and past any pooler, for whoever listens; the caller closes it. Raises what
        `LOST` lists, and StorageError or ConfigurationError."""
        return await self._connect_to(self._direct_url)

    async def run(self, work: Callable[[Connection], Awaitable[T]], seconds: float | None = None) -> T:
        """Does the work on one connection, and again on another when the first is lost: the work must be such
        that doing it twice leaves the same rows. Work of many statements says how long it may take in all; otherwise
        that is the patience of the settings."""
        return await self._run(work, self._settings.patience_seconds if seconds is None else seconds)

    @property
    def patience_seconds(self) -> float:
        return self._settings.patience_seconds

    async def fetch(self, query: str, *values: Any) -> list[asyncpg.Record]:
        return await self.run(lambda connection: connection.fetch(query, *values))

    async def fetch_one(self, query: str, *values: Any) -> asyncpg.Record | None:
        return await self.run(lambda connection: connection.fetchrow(query, *values))

    async def execute(self, query: str, *values: Any) -> None:
        # Not Connection.execute, which would not reuse the prepared statement.
        await self.run(lambda connection: connection.fetch(query, *values))

    async def _run(self, work: Callable[[Connection], Awaitable[T]], patience: float) -> T:
        last: Exception = TimeoutError(f"no free connection for {patience:g} s")
        try:
            async with asyncio.timeout(patience):
                try:
                    return await self._attempt(work)
                except _ConnectionLost as lost:
                    last = lost.cause
                return await self._retry(work, patience)
        except TimeoutError:
            raise translate_error(last, self._address) from last
        except _ConnectionLost as lost:
            raise translate_error(lost.cause, self._address) from lost.cause

    async def _retry(self, work: Callable[[Connection], Awaitable[T]], patience: float) -> T:
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_ConnectionLost),
            wait=wait_random_exponential(multiplier=0.05, max=2.0),
            stop=stop_after_delay(patience),
            reraise=True,
        )
        return await retrying(self._attempt, work)

    async def _attempt(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        if self._pool is None:
            raise StorageError("The database is not connected.")
        try:
            async with self._pool.acquire() as connection:
                try:
                    if self._lost_at is not None:
                        await connection.fetchval("SELECT 1")
                        self._reached()
                    return await work(connection)
                except (asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
                    if _is_closed(connection):
                        raise self._lost(error) from error
                    raise
        except RETRYABLE_ERRORS as error:
            raise self._lost(error) from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise translate_error(error, self._address) from error

    def _lost(self, error: Exception) -> _ConnectionLost:
        if self._lost_at is None:
            self._lost_at = time.monotonic()
        return _ConnectionLost(error)

    def _reached(self) -> None:
        if self._lost_at is not None:
            now = time.monotonic()
            self.last_outage, self._lost_at = Outage(now - self._lost_at, now), None

    async def _connect(self, *_: object, **arguments: Any) -> "asyncpg.Connection[asyncpg.Record]":
        """A new connection; the pool adds arguments of its own."""
        return await self._connect_to(None, **arguments)

    async def _connect_to(self, url: str | None, **arguments: Any) -> "asyncpg.Connection[asyncpg.Record]":
        """None: the one that is configured, or the server that is started for it."""
        url = url or self._url or (await self._start_server() if self._start_server else "")
        try:
            connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
                url,
                timeout=self._settings.connect_seconds,
                server_settings={"application_name": "assayer"},
                **{"command_timeout": self._settings.command_seconds} | arguments,
            )
        except ValueError as error:  # also asyncpg's ClientConfigurationError
            raise translate_error(error, self._address) from None
        return connection


def _is_closed(connection: Connection) -> bool:
    """A connection that is lost in the middle of a transaction leaves the pool by itself, and may not be asked."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True
