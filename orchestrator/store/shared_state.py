"""Small pieces of state shared by processes, such as the request rate for a source. Each is a row, which is locked
while it is changed."""

from collections.abc import Callable
from typing import TypeVar

from orchestrator.store.database import Connection, Store

Result = TypeVar("Result")

_LOCK_STATE = """
    INSERT INTO turns AS existing (bucket, version, state) VALUES ($1, 1, '{}')
    ON CONFLICT (bucket) DO UPDATE SET version = existing.version + 1
    RETURNING state, extract(epoch FROM clock_timestamp())::float8 AS now
"""

_UPDATE_STATE = "UPDATE turns SET state = $2 WHERE bucket = $1"


class PgSharedState(Store):
    """Implements `workers.outbound.store.SharedState`, using the database server's clock."""

    async def change(self, key: str, work: Callable[[str, float], tuple[str, Result]]) -> Result:
        async def change_locked(connection: Connection) -> Result:
            async with connection.transaction():
                row = await connection.fetchrow(_LOCK_STATE, key)
                assert row is not None, "an upsert returns its row"  # noqa: S101 - for the type checker
                text, result = work(row["state"], row["now"])
                await connection.fetch(_UPDATE_STATE, key, text)  # as a prepared statement, unlike execute
                return result

        return await self._database.run(change_locked)
