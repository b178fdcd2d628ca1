"""A chore of the whole service is done by one process at a time: an advisory lock, which ends with its transaction."""

from collections.abc import Awaitable, Callable

from orchestrator.store.database import Connection, Database

__all__ = ["PgChoreLock"]

_TAKE = "SELECT pg_try_advisory_xact_lock(hashtextextended('assayer chore: ' || $1, 0))"
_LONGEST_SECONDS = 3_600.0
"""Of one chore."""


class PgChoreLock:
    """Implements `orchestrator.execution.chores.ChoreLock`.

    The lock is a transaction's, which holds nothing but the lock, so that it holds through a pooler by transaction as
    well. It takes a connection of the pool for as long as the work lasts. Should that connection be lost meanwhile,
    another process may begin the same chore: chores are written so that this does no harm.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run_alone(self, name: str, work: Callable[[], Awaitable[object]]) -> bool:
        async def locked(connection: Connection) -> bool:
            async with connection.transaction():
                if not await connection.fetchval(_TAKE, name):
                    return False
                await work()
            return True

        return await self._database.run(locked, _LONGEST_SECONDS)
