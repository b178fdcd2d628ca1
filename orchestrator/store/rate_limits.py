"""The shared state of the rate limits of remote sources: one bucket per source, changed by compare-and-swap."""

from assayer.models.remote import VersionedText
from orchestrator.store.database import Database

__all__ = ["PgRateLimits"]

_READ = """
    SELECT extract(epoch FROM clock_timestamp())::float8 AS now, version, state
    FROM (SELECT 1) AS one LEFT JOIN turns ON bucket = $1
"""

_SWAP = """
    UPDATE turns SET version = version + 1, state = $3 WHERE bucket = $1 AND version = $2 RETURNING version
"""

_INSERT = "INSERT INTO turns (bucket, version, state) VALUES ($1, $2 + 1, $3) ON CONFLICT DO NOTHING RETURNING version"


class PgRateLimits:
    """Implements `workers.remote.rate_limit.RateLimitStore`; the clock is the database server's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, bucket: str) -> VersionedText:
        row = await self._database.fetch_one(_READ, bucket)
        if row is None or row["version"] is None:
            return VersionedText(row["now"] if row else 0.0, 0, "")
        return VersionedText(row["now"], row["version"], row["state"])

    async def compare_and_swap(self, bucket: str, version: int, text: str) -> bool:
        statement = _SWAP if version else _INSERT
        return await self._database.fetch_one(statement, bucket, version, text) is not None
