"""Advisory locks on a dedicated connection, which ensure that only one process at a time runs a service-wide chore."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self

import asyncpg
from asyncpg.transaction import Transaction

from orchestrator.store.database import Database
from orchestrator.store.database_errors import DRIVER_ERRORS

_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended('assayer chore: ' || $1, 0))"


class PgChoreLock:
    """Implements `orchestrator.execution.chores.ChoreLock`; use as an async context manager.

    One transaction, on one connection outside the pool, holds all locks of a process, so that chores never wait for
    each other's connections. Transaction-level locks also work through a transaction pooler. The locks are released
    together once no chore runs in this process; until then, no other process can run any of these chores. If the
    connection is lost, another process may start the same chore, so concurrent runs of a chore must do no harm."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._transaction: Transaction | None = None
        self._running: set[str] = set()
        self._mutex = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def run_alone(self, name: str, work: Callable[[], Awaitable[object]]) -> bool:
        if not await self._acquire(name):
            return False
        try:
            await work()
        finally:
            await self._release(name)
        return True

    async def _acquire(self, name: str) -> bool:
        async with self._mutex:
            if name in self._running:
                return False
            with self._database.translate_driver_errors():
                if self._connection is None or self._connection.is_closed():
                    self._connection, self._transaction = await self._database.connect_unpooled(), None
                if self._transaction is None:
                    self._transaction = self._connection.transaction()
                    await self._transaction.start()
                is_acquired = bool(await self._connection.fetchval(_TRY_LOCK, name))
            if is_acquired:
                self._running.add(name)
            elif not self._running:
                await self._release_all()
            return is_acquired

    async def _release(self, name: str) -> None:
        async with self._mutex:
            self._running.discard(name)
            if not self._running:
                await self._release_all()

    async def _release_all(self) -> None:
        """End the transaction, which releases all locks. If that fails, close the connection, which has the same
        effect."""
        transaction, self._transaction = self._transaction, None
        if transaction is None or self._connection is None or self._connection.is_closed():
            return
        try:
            await transaction.rollback()
        except DRIVER_ERRORS:
            self._connection.terminate()
