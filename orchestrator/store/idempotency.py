"""Idempotent writes: a request that is sent twice is done once, and answered the same from its record."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from assayer.errors import InputError
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Connection, Database

__all__ = ["IdempotencyKeyReused", "IdempotencyRecord", "RecordedResponse", "insert_once", "recorded_response"]

T = TypeVar("T")

_RESERVE_KEY = """
    INSERT INTO idempotency (tenant, key, request, status, body, location) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (tenant, key) DO NOTHING
    RETURNING true
"""

_RECORDED = "SELECT request, status, body, location FROM idempotency WHERE tenant = $1 AND key = $2"


class IdempotencyRecord(NamedTuple):
    """What is stored of a request with an idempotency key, and of its response."""

    key: str
    request: bytes
    """SHA-256 of everything in the request that matters."""
    status: int
    body: bytes
    location: str


class RecordedResponse(NamedTuple):
    """The response to an earlier request that was the same."""

    status: int
    body: bytes
    location: str


class IdempotencyKeyReused(InputError):
    """The idempotency key belongs to another request."""


class _NothingInserted(Exception):
    """Rolls the record of the request back."""


async def insert_once(
    database: Database,
    tenant: TenantId,
    record: IdempotencyRecord | None,
    insert: Callable[[Connection], Awaitable[T | None]],
) -> T | RecordedResponse | None:
    """What was inserted, or the response recorded for the same request, in one transaction. None where nothing was
    inserted; then nothing is recorded. `insert` may run twice. Raises IdempotencyKeyReused."""

    async def attempt(connection: Connection) -> T | RecordedResponse:
        async with connection.transaction():
            if record is not None and (recorded := await recorded_response(connection, tenant, record)):
                return recorded
            inserted = await insert(connection)
            if inserted is None:
                raise _NothingInserted
            return inserted

    try:
        return await database.run(attempt)
    except _NothingInserted:
        return None


async def recorded_response(
    connection: Connection, tenant: TenantId, record: IdempotencyRecord
) -> RecordedResponse | None:
    """The response recorded under the same key. Where there is none, `record` is stored; another transaction that is
    just storing one is waited for. Raises IdempotencyKeyReused."""
    if await connection.fetchval(_RESERVE_KEY, tenant, *record):
        return None
    row = await connection.fetchrow(_RECORDED, tenant, record.key)
    if row is None:  # deleted between the two statements, a week old
        return await recorded_response(connection, tenant, record)
    if row["request"] != record.request:
        raise IdempotencyKeyReused(
            f"The idempotency key {record.key!r} was used for another request.",
            "Use a new key for every new request; repeat a key only with the very same request.",
        )
    return RecordedResponse(row["status"], row["body"], row["location"])
