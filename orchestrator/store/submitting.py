"""The way into the queue: jobs, their batch and the idempotency record, all or nothing."""

import json
from collections.abc import Iterator, Sequence

from assayer.errors import InputError
from orchestrator.jobs.idempotency import KeyReused, Once, QueueFull, Replay
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.submissions import BatchClosed, MoreRows, NewBatch, NewJob
from orchestrator.store.database import Connection
from orchestrator.store.documents import document, plain, without_nul
from orchestrator.store.job_rows import NUMBER_OF
from orchestrator.store.telling import QUEUED, tell

__all__ = ["answered_before", "submit"]

_ROWS = 500
_BYTES = 16_000_000
"""Of one statement, which has a deadline."""

_ONCE = """
    INSERT INTO idempotency (tenant, key, request, status, body, location) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (tenant, key) DO NOTHING
    RETURNING true
"""

_BEFORE = "SELECT request, status, body, location FROM idempotency WHERE tenant = $1 AND key = $2"

_ROOM = """
    SELECT max_queued, EXISTS (SELECT FROM jobs WHERE id = $2) AS known,
           (SELECT count(*) FROM jobs WHERE jobs.tenant = tenants.id AND state = 'queued') AS queued
    FROM tenants WHERE id = $1
"""

_BATCH = """
    INSERT INTO batches (id, tenant, name, rows, rejected, open) VALUES ($2, $1, $3, $4, $5, $6)
    ON CONFLICT (id) DO NOTHING
"""

_MORE = """
    UPDATE batches SET rows = rows + $4, rejected = rejected || $5::jsonb, open = $6
    WHERE tenant = $1 AND id = $2 AND open AND NOT EXISTS (SELECT FROM jobs WHERE batch = $2 AND "row" >= $3)
    RETURNING id
"""
_KNOWN = "SELECT true FROM jobs WHERE id = $1"

# A microsecond apart: the order of acceptance is the order of the rows.
_JOBS = """
    WITH given AS (
        SELECT *, statement_timestamp() + ordinality * interval '1 microsecond' AS at
        FROM unnest($3::text[], $4::integer[], $5::text[], $6::smallint[], $7::text[], $8::jsonb[], $9::bytea[],
                    $10::float8[], $11::text[])
             WITH ORDINALITY AS given (id, "row", kind, priority, subject, request, document, max_usd, traceparent,
                                       ordinality)
    ), added AS (
        INSERT INTO jobs (id, tenant, batch, "row", kind, priority, state, subject, request, document, max_usd,
                          traceparent, last_event, created_at, ready_at)
        SELECT id, $1, $2, "row", kind, priority, 'queued', subject, request, document, max_usd, traceparent, 1, at, at
        FROM given
        ON CONFLICT (id) DO NOTHING
        RETURNING id
    ), told AS (
        INSERT INTO events (job, number, kind, data) SELECT id, 1, 'queued', '{}' FROM added
    )
    SELECT FROM added LIMIT 1
"""


async def submit(
    connection: Connection,
    tenant: TenantId,
    jobs: Sequence[NewJob],
    batch: NewBatch | MoreRows | None,
    once: Once | None,
) -> Replay | None:
    """In a transaction of its own; twice is as good as once. Raises KeyReused, QueueFull, BatchClosed."""
    async with connection.transaction():
        if once is not None and (before := await answered_before(connection, tenant, once)):
            return before
        await _check_room(connection, tenant, jobs)
        if batch is not None:
            await _enter(connection, tenant, batch, jobs)
        for part in _parts(jobs):
            await connection.fetch(_JOBS, tenant, batch.id if batch else None, *_columns(part))
    await tell(connection, [QUEUED])
    return None


async def _enter(connection: Connection, tenant: TenantId, batch: NewBatch | MoreRows, jobs: Sequence[NewJob]) -> None:
    rejected = without_nul(json.dumps([row.model_dump(mode="json") for row in batch.rejected]))
    if isinstance(batch, NewBatch):
        await connection.fetch(_BATCH, tenant, batch.id, plain(batch.name), batch.rows, rejected, batch.open)
        return
    added = await connection.fetch(_MORE, tenant, batch.id, batch.first, batch.rows, rejected, batch.open)
    # Known: added before, by a try whose answer was lost.
    if not added and not (jobs and await connection.fetchval(_KNOWN, jobs[0].id)):
        raise BatchClosed(batch.id, batch.first)


async def answered_before(connection: Connection, tenant: TenantId, once: Once) -> Replay | None:
    """What the same key was answered; otherwise the key is taken. Waits for whoever is just taking it."""
    if await connection.fetchval(_ONCE, tenant, once.key, once.request, once.status, once.body, once.location):
        return None
    row = await connection.fetchrow(_BEFORE, tenant, once.key)
    if row is None:  # deleted between the two statements, a week old
        return await answered_before(connection, tenant, once)
    if row["request"] != once.request:
        raise KeyReused(
            f"The idempotency key {once.key!r} was used for another request.",
            "Draw a new key for every new request; repeat a key only with the very same request.",
        )
    return Replay(row["status"], row["body"], row["location"])


async def _check_room(connection: Connection, tenant: TenantId, jobs: Sequence[NewJob]) -> None:
    """Requests at the same moment may pass the limit by what they hold: it is there to keep queues short, not exact."""
    row = await connection.fetchrow(_ROOM, tenant, jobs[0].id if jobs else "")
    if row is None:
        raise InputError(f"There is no tenant {tenant}.")
    if not row["known"] and row["queued"] + len(jobs) > row["max_queued"]:
        raise QueueFull(row["queued"], len(jobs), row["max_queued"])


def _parts(jobs: Sequence[NewJob]) -> Iterator[list[NewJob]]:
    part: list[NewJob] = []
    size = 0
    for job in jobs:
        part.append(job)
        size += len(job.document or b"")
        if len(part) == _ROWS or size >= _BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _columns(jobs: Sequence[NewJob]) -> tuple[list[object], ...]:
    return (
        [job.id for job in jobs],
        [job.row for job in jobs],
        [job.work.kind for job in jobs],
        [NUMBER_OF[job.priority] for job in jobs],
        [plain(job.subject) for job in jobs],
        [document(job.work) for job in jobs],
        [job.document for job in jobs],
        [job.work.limits.max_usd for job in jobs],
        [job.traceparent for job in jobs],
    )
