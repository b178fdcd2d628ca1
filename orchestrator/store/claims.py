"""Claims on work that several processes might begin: one row a claim, which expires unless it is renewed."""

import datetime as dt
from collections.abc import Sequence

from orchestrator.store.database import Database

__all__ = ["PgClaims"]

_CLAIM = """
    INSERT INTO reply_claims AS held (key, claimant, expires_at)
    VALUES ($1, $2, clock_timestamp() + $3::interval)
    ON CONFLICT (key) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at
    WHERE held.expires_at <= clock_timestamp() OR held.claimant = excluded.claimant
    RETURNING key
"""

_RELEASE = "DELETE FROM reply_claims WHERE key = $1 AND claimant = $2"

_RENEW = """
    UPDATE reply_claims SET expires_at = clock_timestamp() + $2::interval WHERE claimant = ANY($1::text[])
"""

_UNCLAIMED = """
    SELECT key FROM unnest($1::text[]) AS wanted (key)
    WHERE NOT EXISTS (
        SELECT FROM reply_claims AS held WHERE held.key = wanted.key AND held.expires_at > clock_timestamp()
    )
"""


class PgClaims:
    """Implements `workers.concurrency.claims.Claims`; the clock is the database server's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, key: str, claimant: str, seconds: float) -> bool:
        return await self._database.fetch_one(_CLAIM, key, claimant, dt.timedelta(seconds=seconds)) is not None

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        await self._database.execute(_RENEW, list(claimants), dt.timedelta(seconds=seconds))

    async def release(self, key: str, claimant: str) -> None:
        await self._database.execute(_RELEASE, key, claimant)

    async def unclaimed(self, keys: Sequence[str]) -> list[str]:
        return [row["key"] for row in await self._database.fetch(_UNCLAIMED, list(keys))]
