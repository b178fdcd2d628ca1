"""Idempotent writes: a request that is sent twice is executed once; the second time, the stored response is
returned."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from assayer.errors import InputError
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Connection, Database

T = TypeVar("T")

_RESERVE_KEY = """
    INSERT INTO idempotency (tenant, key, request, status, body, location) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (tenant, key) DO NOTHING
    RETURNING true
"""

_RECORDED = "SELECT request, status, body, location FROM idempotency WHERE tenant = $1 AND key = $2"


class IdempotencyRecord(NamedTuple):
    """Stored data of a request with an idempotency key, and of its response."""

    key: str
    request: bytes
    """SHA-256 of all parts of the request that matter."""
    status: int
    body: bytes
    location: str


class RecordedResponse(NamedTuple):
    """Response to an earlier identical request."""

    status: int
    body: bytes
    location: str


class IdempotencyKeyReused(InputError):
    """Raised when the idempotency key belongs to another request."""


class _NothingInserted(Exception):
    """Raised internally to roll back the record of the request."""


async def insert_once(
    database: Database,
    tenant: TenantId,
    record: IdempotencyRecord | None,
    insert: Callable[[Connection], Awaitable[T | None]],
) -> T | RecordedResponse | None:
    """Insert a resource and its record in one transaction. Returns what was inserted, the response recorded for the
    same request, or None if nothing was inserted, in which case nothing is recorded. `insert` may run twice. Raises
    IdempotencyKeyReused."""

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
    """Return the response recorded under the same key. If there is none, wait for any concurrent transaction that
    stores one; if there still is none, store `record` and return None. Raises IdempotencyKeyReused."""
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
