"""The shared cache of answers of remote sources, and who is asking for one right now."""

import asyncio
import datetime as dt
import zlib
from collections.abc import Sequence
from typing import Literal

import asyncpg

from assayer.models.remote import KeptReply
from orchestrator.store.database import Database

__all__ = ["PgReplies"]

_LEVEL = 3
_BIG = 64 * 1024
"""Bytes from which on (de)compressing leaves the event loop."""

_FIND = """
    SELECT source, status, body, fetched_at FROM replies
    WHERE key = $1 AND fetched_at > clock_timestamp() - $2::interval
"""

_CLAIM = f"""
    WITH kept AS ({_FIND}), claimed AS (
        INSERT INTO reply_claims AS held (key, claimant, expires_at)
        SELECT $1, $3, clock_timestamp() + $4::interval WHERE NOT EXISTS (SELECT FROM kept)
        ON CONFLICT (key) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at
        WHERE held.expires_at <= clock_timestamp() OR held.claimant = excluded.claimant
        RETURNING true AS claimed
    )
    SELECT claimed, source, status, body, fetched_at
    FROM (SELECT 1) AS one LEFT JOIN kept ON true LEFT JOIN claimed ON true
"""  # noqa: S608 - put together from constants

_KEEP = """
    WITH ended AS (DELETE FROM reply_claims WHERE key = $1)
    INSERT INTO replies (key, source, status, body, fetched_at, expires_at)
    VALUES ($1, $2, $3, $4, $5::timestamptz, $5::timestamptz + $6::interval)
    ON CONFLICT (key) DO UPDATE
    SET source = excluded.source, status = excluded.status, body = excluded.body, fetched_at = excluded.fetched_at,
        expires_at = excluded.expires_at
"""

_RELEASE = "DELETE FROM reply_claims WHERE key = $1 AND claimant = $2"

_RENEW = """
    UPDATE reply_claims SET expires_at = clock_timestamp() + $2::interval WHERE claimant = ANY($1::text[])
"""

_SETTLED = """
    SELECT key FROM unnest($1::text[]) AS wanted (key)
    WHERE NOT EXISTS (
        SELECT FROM reply_claims AS held WHERE held.key = wanted.key AND held.expires_at > clock_timestamp()
    )
"""

# Materialized: within IN (…) the rows that are locked may be chosen again and again, and the limit holds for each time.
_PURGE = """
    WITH old_claims AS MATERIALIZED (
        SELECT key FROM reply_claims WHERE expires_at < clock_timestamp() - interval '1 hour'
        LIMIT $1 FOR UPDATE SKIP LOCKED
    ), old_replies AS MATERIALIZED (
        SELECT key FROM replies WHERE expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
    ), claims AS (
        DELETE FROM reply_claims USING old_claims WHERE reply_claims.key = old_claims.key
    )
    DELETE FROM replies USING old_replies WHERE replies.key = old_replies.key RETURNING replies.key
"""


class PgReplies:
    """Implements `workers.remote.replies.Replies`. Bodies are compressed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> KeptReply | Literal["claimed", "elsewhere"]:
        row = await self._database.fetch_one(_CLAIM, key, freshness, claimant, dt.timedelta(seconds=seconds))
        if row is None or (not row["claimed"] and row["body"] is None):
            return "elsewhere"
        if not row["claimed"]:
            return await _reply(row)
        # Between the statement's snapshot and its claim another claimant may have kept a reply and ended its claim.
        late = await self._database.fetch_one(_FIND, key, freshness)
        if late is None:
            return "claimed"
        await self.release(key, claimant)
        return await _reply(late)

    async def keep(self, key: str, reply: KeptReply, lifetime: dt.timedelta) -> None:
        body = await _compressed(reply.body)
        await self._database.execute(_KEEP, key, reply.source, reply.status, body, reply.fetched_at, lifetime)

    async def release(self, key: str, claimant: str) -> None:
        await self._database.execute(_RELEASE, key, claimant)

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        await self._database.execute(_RENEW, list(claimants), dt.timedelta(seconds=seconds))

    async def settled(self, keys: Sequence[str]) -> list[str]:
        return [row["key"] for row in await self._database.fetch(_SETTLED, list(keys))]

    async def purge(self, most: int) -> int:
        return len(await self._database.fetch(_PURGE, most))


async def _compressed(body: bytes) -> bytes:
    if len(body) < _BIG:
        return zlib.compress(body, _LEVEL)
    return await asyncio.to_thread(zlib.compress, body, _LEVEL)


async def _reply(row: asyncpg.Record) -> KeptReply:
    packed: bytes = row["body"]
    body = zlib.decompress(packed) if len(packed) < _BIG else await asyncio.to_thread(zlib.decompress, packed)
    return KeptReply(row["source"], row["status"], body, row["fetched_at"])
