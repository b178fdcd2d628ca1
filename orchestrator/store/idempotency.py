"""Idempotent writes: a repeated request is not executed again, but receives the stored response."""

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

_UPDATE_BODY = "UPDATE idempotency SET body = $3 WHERE tenant = $1 AND key = $2"
_SELECT_RESPONSE = "SELECT request, status, body, location FROM idempotency WHERE tenant = $1 AND key = $2"


class IdempotencyRecord(NamedTuple):
    """A request with an idempotency key, and its response, as stored."""

    key: str
    request: bytes
    """SHA-256 hash of everything that distinguishes the request from others."""
    status: int
    body: bytes
    location: str


class RecordedResponse(NamedTuple):
    """The stored response to an earlier, identical request."""

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
    make_body: Callable[[T], bytes] | None = None,
) -> T | RecordedResponse | None:
    """Insert a resource and its idempotency record in one transaction. Return what `insert` returns, or the response
    recorded for the same request. If `insert` returns None, return None and record nothing. `insert` may run more than
    once. `make_body` computes the body to record if it depends on what was inserted. Raises IdempotencyKeyReused if the
    key belongs to a different request."""

    async def attempt(connection: Connection) -> T | RecordedResponse:
        async with connection.transaction():
            if record is not None and (recorded := await find_or_store_response(connection, tenant, record)):
                return recorded
            inserted = await insert(connection)
            if inserted is None:
                raise _NothingInserted
            if record is not None and make_body is not None:
                await connection.execute(_UPDATE_BODY, tenant, record.key, make_body(inserted))
            return inserted

    try:
        return await database.run(attempt)
    except _NothingInserted:
        return None


async def find_or_store_response(
    connection: Connection, tenant: TenantId, record: IdempotencyRecord
) -> RecordedResponse | None:
    """Return the response recorded under the same key, waiting for any concurrent transaction that is storing it. If
    there is none, store `record` and return None. Raises IdempotencyKeyReused if the key belongs to a different
    request."""
    if await connection.fetchval(_RESERVE_KEY, tenant, *record):
        return None
    row = await connection.fetchrow(_SELECT_RESPONSE, tenant, record.key)
    if row is None:  # deleted between the two statements, because it was a week old
        return await find_or_store_response(connection, tenant, record)
    if row["request"] != record.request:
        raise IdempotencyKeyReused(
            f"The idempotency key {record.key!r} was used for a different request.",
            "Use a new key for every new request, and reuse a key only to repeat the same request.",
        )
    return RecordedResponse(row["status"], row["body"], row["location"])
