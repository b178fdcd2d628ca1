"""Shared cache of responses from remote sources. A process claims a response while it is requesting it, so that others
wait."""

import asyncio
import datetime as dt
import zlib

import asyncpg

from assayer.models.remote import CachedResponse
from orchestrator.store.claims import Claimed, PgClaims

_COMPRESSION_LEVEL = 3
_LARGE_BODY_BYTES = 64 * 1024
"""Bodies of at least this many bytes are compressed and decompressed in a thread."""

_SELECT_RESPONSE = """
    SELECT key, source, status, body, fetched_at FROM replies
    WHERE key = $1 AND fetched_at > clock_timestamp() - $2::interval
"""

_UPSERT_RESPONSE = """
    WITH ended AS (DELETE FROM reply_claims WHERE key = $1)
    INSERT INTO replies (key, source, status, body, fetched_at, expires_at)
    VALUES ($1, $2, $3, $4, $5::timestamptz, $5::timestamptz + $6::interval)
    ON CONFLICT (key) DO UPDATE
    SET source = excluded.source, status = excluded.status, body = excluded.body, fetched_at = excluded.fetched_at,
        expires_at = excluded.expires_at
"""

# MATERIALIZED, because PostgreSQL may evaluate a subquery within IN (…) repeatedly, each time with its own limit.
_DELETE_EXPIRED = """
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


class PgResponseCache(PgClaims):
    """Implements `workers.outbound.store.ResponseCache`; bodies are stored compressed."""

    async def find_or_claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> CachedResponse | Claimed:
        claim = await self.find_or_claim_row(_SELECT_RESPONSE, key, (freshness,), claimant, seconds)
        return claim if isinstance(claim, str) else await _to_response(claim)

    async def store(self, key: str, response: CachedResponse, lifetime: dt.timedelta) -> None:
        body = await _compress(response.body)
        await self._database.execute(
            _UPSERT_RESPONSE, key, response.source, response.status, body, response.fetched_at, lifetime
        )

    async def purge(self, limit: int) -> int:
        return len(await self._database.fetch(_DELETE_EXPIRED, limit))


async def _compress(body: bytes) -> bytes:
    if len(body) < _LARGE_BODY_BYTES:
        return zlib.compress(body, _COMPRESSION_LEVEL)
    return await asyncio.to_thread(zlib.compress, body, _COMPRESSION_LEVEL)


async def _to_response(row: asyncpg.Record) -> CachedResponse:
    packed: bytes = row["body"]
    body = (
        zlib.decompress(packed) if len(packed) < _LARGE_BODY_BYTES else await asyncio.to_thread(zlib.decompress, packed)
    )
    return CachedResponse(row["source"], row["status"], body, row["fetched_at"])
