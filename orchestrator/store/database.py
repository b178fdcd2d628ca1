"""The connection to PostgreSQL: pooled, deadlined, and back by itself after a loss."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

import asyncpg
from asyncpg.pool import PoolConnectionProxy
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from assayer.errors import AssayerError, ConfigurationError, StorageError
from assayer.models import Frozen
from orchestrator.settings import DatabaseSettings
from orchestrator.store import schema
from orchestrator.store.failures import LOST, address, explain

__all__ = ["Connection", "Database", "DatabaseHealth", "Revive"]

T = TypeVar("T")
Connection: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"
Revive: TypeAlias = Callable[[], Awaitable[str]]
"""Makes sure that a server runs, and says at which URL."""


class DatabaseHealth(Frozen):
    """What `assayer doctor` tells about the database."""

    where: str
    server: str | None
    """`PostgreSQL 18.4`; None when it does not answer."""
    revision: str | None
    """Of the tables; None before they are made."""
    problem: str
    """In plain words; empty when all is well."""


class _Lost(Exception):
    """The connection went in the middle of work that may be done again."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


async def _keep_session(_: schema.AnyConnection) -> None:
    """Instead of asyncpg's reset query on every release: our statements leave nothing behind in a session."""


class Database:
    """Owned by the composition root; use as an async context manager.

    Every operation raises StorageError (ConfigurationError for an unusable URL), never a driver's error.
    """

    def __init__(self, settings: DatabaseSettings, revive: Revive | None = None) -> None:
        """`revive` serves when the settings have no URL; it is called before every new connection."""
        if not settings.url and revive is None:
            raise ConfigurationError("No database is configured.", "Set ASSAYER_DATABASE__URL.")
        self._settings = settings
        self._url = settings.url.get_secret_value() if settings.url else None
        self._revive = revive
        self._where = address(self._url) if self._url else "the embedded PostgreSQL"
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
                connect=self._dial,
                reset=_keep_session,
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
        """Brings the tables up to date; many processes may do so at once."""
        revision = await self.run(schema.present)
        schema.refuse_newer(revision)
        if revision != schema.newest():
            await self.run(lambda _: schema.upgrade(self._dial))

    async def ping(self) -> DatabaseHealth:
        """Never raises, and needs no `connect`."""
        server = revision = None
        problem = ""
        try:
            async with asyncio.timeout(self._settings.connect_seconds + self._settings.command_seconds):
                connection = await self._dial()
                try:
                    server = f"PostgreSQL {await connection.fetchval('SHOW server_version')}"
                    revision = await schema.present(connection)
                    if await connection.fetchval("SELECT pg_is_in_recovery()"):
                        problem = "The server is a read-only standby. Point ASSAYER_DATABASE__URL at the primary."
                    schema.refuse_newer(revision)
                finally:
                    await connection.close()
        except AssayerError as error:
            problem = str(error)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            problem = str(explain(error, self._where))
        return DatabaseHealth(where=self._where, server=server, revision=revision, problem=problem)

    async def dial(self) -> "asyncpg.Connection[asyncpg.Record]":
        """A connection outside of the pool, for whoever listens; the caller closes it. Raises what `LOST` lists, and
        StorageError or ConfigurationError."""
        return await self._dial()

    async def run(self, work: Callable[[Connection], Awaitable[T]], seconds: float | None = None) -> T:
        """Does the work on one connection, and again on another when the first is lost: the work must be such
        that doing it twice leaves the same rows. Work of many statements says how long it may take in all; otherwise
        that is the patience of the settings."""
        return await self._run(work, self._settings.patience_seconds if seconds is None else seconds)

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
                except _Lost as lost:
                    last = lost.cause
                return await self._again(work, patience)
        except TimeoutError:
            raise explain(last, self._where) from last
        except _Lost as lost:
            raise explain(lost.cause, self._where) from lost.cause

    async def _again(self, work: Callable[[Connection], Awaitable[T]], patience: float) -> T:
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_Lost),
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
                    return await work(connection)
                except (asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
                    if _gone(connection):
                        raise _Lost(error) from error
                    raise
        except LOST as error:
            raise _Lost(error) from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise explain(error, self._where) from error

    async def _dial(self, *_: object, **arguments: Any) -> "asyncpg.Connection[asyncpg.Record]":
        """A new connection; the pool adds arguments of its own."""
        url = self._url or (await self._revive() if self._revive else "")
        try:
            connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
                url,
                timeout=self._settings.connect_seconds,
                command_timeout=self._settings.command_seconds,
                server_settings={"application_name": "assayer"},
                **arguments,
            )
        except ValueError as error:  # also asyncpg's ClientConfigurationError
            raise explain(error, self._where) from None
        return connection


def _gone(connection: Connection) -> bool:
    """A connection that is lost in the middle of a transaction leaves the pool by itself, and may not be asked."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True
