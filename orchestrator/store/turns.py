"""The buckets in which all processes take turns at remote sources."""

from assayer.models.remote import SharedText
from orchestrator.store.database import Database

__all__ = ["PgTurns"]

_LOOK = """
    SELECT extract(epoch FROM clock_timestamp())::float8 AS now, version, state
    FROM (SELECT 1) AS one LEFT JOIN turns ON bucket = $1
"""

_SWAP = """
    UPDATE turns SET version = version + 1, state = $3 WHERE bucket = $1 AND version = $2 RETURNING version
"""

_BEGIN = "INSERT INTO turns (bucket, version, state) VALUES ($1, $2 + 1, $3) ON CONFLICT DO NOTHING RETURNING version"


class PgTurns:
    """Implements `workers.remote.turns.Turns`; the clock is the database server's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def look(self, bucket: str) -> SharedText:
        row = await self._database.fetch_one(_LOOK, bucket)
        if row is None or row["version"] is None:
            return SharedText(row["now"] if row else 0.0, 0, "")
        return SharedText(row["now"], row["version"], row["state"])

    async def swap(self, bucket: str, version: int, text: str) -> bool:
        statement = _SWAP if version else _BEGIN
        return await self._database.fetch_one(statement, bucket, version, text) is not None
