"""Claims on work that several processes might start, stored as rows that expire unless they are renewed."""

import datetime as dt
from collections.abc import Sequence
from typing import Literal, TypeAlias

import asyncpg

from orchestrator.store.database import Store

Claimed: TypeAlias = Literal["claimed", "elsewhere"]

_UPSERT_CLAIM = """
    INSERT INTO reply_claims AS existing (key, claimant, expires_at)
    VALUES ($1, $2, clock_timestamp() + $3::interval)
    ON CONFLICT (key) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at
    WHERE existing.expires_at <= clock_timestamp() OR existing.claimant = excluded.claimant
    RETURNING key
"""

_FIND_OR_CLAIM = """
    WITH found AS ({find}), claimed AS (
        INSERT INTO reply_claims AS existing (key, claimant, expires_at)
        SELECT $1, {claimant}, clock_timestamp() + {seconds}::interval WHERE NOT EXISTS (SELECT FROM found)
        ON CONFLICT (key) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at
        WHERE existing.expires_at <= clock_timestamp() OR existing.claimant = excluded.claimant
        RETURNING true AS claimed
    )
    SELECT claimed, found.* FROM (SELECT 1) AS single_row LEFT JOIN found ON true LEFT JOIN claimed ON true
"""

_DELETE_CLAIM = "DELETE FROM reply_claims WHERE key = $1 AND claimant = $2"

_RENEW_CLAIMS = """
    UPDATE reply_claims SET expires_at = clock_timestamp() + $2::interval WHERE claimant = ANY($1::text[])
"""

_SELECT_UNCLAIMED = """
    SELECT key FROM unnest($1::text[]) AS requested (key)
    WHERE NOT EXISTS (
        SELECT FROM reply_claims AS existing
        WHERE existing.key = requested.key AND existing.expires_at > clock_timestamp()
    )
"""


class PgClaims(Store):
    """Implements `workers.outbound.claims.Claims`, using the database server's clock."""

    async def claim(self, key: str, claimant: str, seconds: float) -> bool:
        return await self._database.fetch_one(_UPSERT_CLAIM, key, claimant, dt.timedelta(seconds=seconds)) is not None

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        await self._database.execute(_RENEW_CLAIMS, list(claimants), dt.timedelta(seconds=seconds))

    async def release(self, key: str, claimant: str) -> None:
        await self._database.execute(_DELETE_CLAIM, key, claimant)

    async def find_unclaimed(self, keys: Sequence[str]) -> list[str]:
        return [row["key"] for row in await self._database.fetch(_SELECT_UNCLAIMED, list(keys))]

    async def find_or_claim_row(
        self, query: str, key: str, values: Sequence[object], claimant: str, seconds: float
    ) -> asyncpg.Record | Claimed:
        """Return the row that `query` selects. If there is none, claim the key and return "claimed", or return
        "elsewhere" if another claimant holds the key.

        `query` is a trusted statement that selects a row with a column `key`. Its parameter $1 is the key; `values` are
        $2 and up."""
        statement = _FIND_OR_CLAIM.format(find=query, claimant=f"${len(values) + 2}", seconds=f"${len(values) + 3}")
        row = await self._database.fetch_one(statement, key, *values, claimant, dt.timedelta(seconds=seconds))
        if row is None or (not row["claimed"] and row["key"] is None):
            return "elsewhere"
        if not row["claimed"]:
            return row
        # Between this statement's snapshot and its claim, another claimant may have written the row and released its
        # claim.
        late_row = await self._database.fetch_one(query, key, *values)
        if late_row is None:
            return "claimed"
        await self.release(key, claimant)
        return late_row
