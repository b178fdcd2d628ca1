"""Submission of jobs to the queue, together with their batch and the idempotency record, in one transaction."""

import json
from collections.abc import Iterator, Sequence, Set

from assayer.errors import InputError
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.job_acts import EntryContent, build_ranking_entry, build_rows_entry
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.jobs.requests import RankingRequest, find_suspicious_features
from orchestrator.jobs.submissions import BatchClosed, EvaluationsDeleted, MoreRows, NewBatch, NewJob, QueueFull
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, find_or_store_response
from orchestrator.store.job_sql import PRIORITIES
from orchestrator.store.json_columns import mapping_to_json_column, replace_nul, replace_nul_in_json
from orchestrator.store.notifications import JOB_QUEUED, notify
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.ranking_rows import insert_ranking, request_to_json

_MAX_CHUNK_ROWS = 500
_MAX_CHUNK_BYTES = 16_000_000
"""Maximum number of document bytes in one statement, so that it completes within its timeout."""

_SELECT_QUEUE_ROOM = """
    SELECT max_queued, EXISTS (SELECT FROM jobs WHERE id = $2) AS is_known,
           (SELECT count(*) FROM jobs WHERE jobs.tenant = tenants.id AND state = 'queued') AS queued
    FROM tenants WHERE id = $1
"""

_INSERT_BATCH = """
    INSERT INTO batches (id, tenant, name, rows, rejected, open, tags, opinions_due, submitted_by)
    VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING
    RETURNING id
"""

# A separate statement, so that the following statements see everything that the previous lock holder added.
_LOCK_BATCH = "SELECT FROM batches WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE"

_EXTEND_BATCH = """
    UPDATE batches SET rows = rows + $4 - jsonb_array_length(rejected) + jsonb_array_length(left_over),
                       rejected = left_over || $5::jsonb, open = $6, told = false,
                       opened_at = CASE WHEN open THEN opened_at ELSE statement_timestamp() END
    FROM (
        SELECT coalesce(jsonb_agg(rejected_row ORDER BY place), '[]') AS left_over
        FROM batches, jsonb_array_elements(rejected) WITH ORDINALITY AS numbered (rejected_row, place)
        WHERE tenant = $1 AND id = $2 AND NOT (rejected_row ->> 'row')::integer = ANY($8::integer[])
    ) AS unreplaced
    WHERE tenant = $1 AND id = $2 AND (open OR $7) AND NOT EXISTS (SELECT FROM sign_offs WHERE batch = $2)
      AND NOT EXISTS (SELECT FROM jobs WHERE batch = $2 AND "row" >= $3)
      AND NOT EXISTS (
          SELECT FROM jsonb_array_elements(rejected) AS rejected_row WHERE (rejected_row ->> 'row')::integer >= $3
      )
    RETURNING id
"""
_SELECT_HAS_JOB = "SELECT true FROM jobs WHERE id = $1"
_SELECT_HAS_REJECTED = "SELECT rejected @> $3::jsonb FROM batches WHERE tenant = $1 AND id = $2"

# Evaluations that an erasure has already deleted are missing from the result. An erasure of the others waits for this
# lock, and finds the new job when it searches again. Here jobs are locked before their call. This cannot deadlock,
# because transactions that lock a call and then its jobs do not wait for this kind of lock.
_LOCK_EVALUATIONS = "SELECT FROM jobs WHERE tenant = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE"

# Times are a microsecond apart, so that sorting jobs by time preserves row order.
_INSERT_JOBS = """
    WITH submitted AS (
        SELECT *, statement_timestamp() + ordinality * interval '1 microsecond' AS at
        FROM unnest($3::text[], $4::integer[], $5::text[], $6::smallint[], $7::text[], $8::jsonb[], $9::bytea[],
                    $10::float8[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::boolean[])
             WITH ORDINALITY AS submitted (id, "row", kind, priority, subject, request, document, max_usd, traceparent,
                                       flags, document_file, method, cutoff, blind, ordinality)
    ), added AS (
        INSERT INTO jobs (id, tenant, batch, "row", kind, priority, state, subject, request, document, max_usd,
                          traceparent, flags, document_file, method, cutoff, blind, last_event, created_at, ready_at)
        SELECT id, $1, $2, "row", kind, priority, 'queued', subject, request, document, max_usd, traceparent,
               string_to_array(flags, ','), document_file, method, cutoff, blind, 1, at, at
        FROM submitted
        ON CONFLICT (id) DO NOTHING
        RETURNING id
    ), queued AS (
        INSERT INTO events (job, number, kind, data) SELECT id, 1, 'queued', '{}' FROM added
    )
    SELECT FROM added LIMIT 1
"""

_INSERT_APPLICANTS = """
    INSERT INTO applicants (evaluation, name, institution, amount, columns)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::jsonb[]) ON CONFLICT DO NOTHING
"""


async def submit_jobs(
    connection: Connection,
    tenant: TenantId,
    jobs: Sequence[NewJob],
    batch: NewBatch | MoreRows | None,
    record: IdempotencyRecord | None,
    log: PgAuditLog,
    by: ActBy | None,
) -> RecordedResponse | None:
    """Submit jobs in one transaction; submitting the same jobs again changes nothing. Return the recorded response if
        the request was processed before, otherwise None.

        `by` is the actor for the audit log; None records no entry. Raises
    - IdempotencyKeyReused if the idempotency key belongs to a different request,
    - QueueFull if the tenant's queue has no room for the jobs,
    - BatchClosed if the batch accepts no more rows,
    - EvaluationsDeleted if evaluations that the jobs are made of no longer exist,
    - ReviewRefused if the batch is signed off."""
    async with connection.transaction():
        if record is not None and (recorded := await find_or_store_response(connection, tenant, record)):
            return recorded
        await _require_queue_room(connection, tenant, jobs)
        await _lock_evaluations(connection, tenant, {item for job in jobs for item in job.required_evaluations})
        is_new = batch is not None and await _insert_batch(connection, tenant, batch, jobs)
        for chunk in _split_into_chunks(jobs):
            added = await connection.fetch(_INSERT_JOBS, tenant, batch.id if batch else None, *_make_columns(chunk))
            is_new = is_new or bool(added)
            await _insert_applicants(connection, chunk if added else ())
            if added and isinstance(chunk[0].request, RankingRequest):
                await insert_ranking(connection, tenant, chunk[0].id, chunk[0].request)
        # The log entry comes last, because other writers to the log wait from here until the commit.
        if by is not None and is_new and (content := _make_audit_content(batch, jobs, by)):
            await log.append(connection, tenant, by, content.act, content.subject, **content.content)
    await notify(connection, [JOB_QUEUED])
    return None


async def _insert_applicants(connection: Connection, jobs: Sequence[NewJob]) -> None:
    """Store the applicants named in these jobs' rows, if any."""
    named_jobs = [(job.id, job.applicant) for job in jobs if any(job.applicant)]
    if named_jobs:
        columns = (
            [id for id, _ in named_jobs],
            [replace_nul(applicant.name) for _, applicant in named_jobs],
            [replace_nul(applicant.institution) for _, applicant in named_jobs],
            [applicant.amount for _, applicant in named_jobs],
            [mapping_to_json_column(applicant.columns) for _, applicant in named_jobs],
        )
        await connection.fetch(_INSERT_APPLICANTS, *columns)


def _make_audit_content(batch: NewBatch | MoreRows | None, jobs: Sequence[NewJob], by: ActBy) -> EntryContent | None:
    if batch is not None:
        return build_rows_entry(batch, jobs)
    ranking = jobs[0].request
    return build_ranking_entry(jobs[0], ranking, by.call) if isinstance(ranking, RankingRequest) else None


async def _insert_batch(
    connection: Connection, tenant: TenantId, batch: NewBatch | MoreRows, jobs: Sequence[NewJob]
) -> bool:
    """Insert a batch, or add more rows to it. Return False if an earlier attempt already did so. Raises BatchClosed if
    the batch accepts no more rows, and ReviewRefused if it is signed off."""
    rejected = replace_nul_in_json(json.dumps([row.model_dump(mode="json") for row in batch.rejected]))
    if isinstance(batch, NewBatch):
        name, tags = replace_nul(batch.name), [replace_nul(tag) for tag in batch.tags]
        values = (name, batch.rows, rejected, batch.open, tags, batch.opinions_due, batch.submitted_by)
        return bool(await connection.fetch(_INSERT_BATCH, tenant, batch.id, *values))
    await connection.fetch(_LOCK_BATCH, tenant, batch.id)
    part_values = (batch.first, batch.rows, rejected, batch.open, batch.reopen, list(batch.replaces))
    added = await connection.fetch(_EXTEND_BATCH, tenant, batch.id, *part_values)
    if added:
        return True
    # It may have been added by an attempt whose response was lost.
    is_known: bool | None = False
    if jobs:
        is_known = await connection.fetchval(_SELECT_HAS_JOB, jobs[0].id)
    elif batch.rejected:
        is_known = await connection.fetchval(_SELECT_HAS_REJECTED, tenant, batch.id, rejected)
    if not is_known:
        await prevent_sign_off(connection, tenant, batch.id)
        raise BatchClosed(batch.id, batch.first)
    return False


async def _require_queue_room(connection: Connection, tenant: TenantId, jobs: Sequence[NewJob]) -> None:
    """Raise QueueFull if the jobs would exceed the tenant's limit for queued jobs, and InputError if the tenant does
    not exist. Concurrent requests can together exceed the limit slightly."""
    row = await connection.fetchrow(_SELECT_QUEUE_ROOM, tenant, jobs[0].id if jobs else "")
    if row is None:
        raise InputError(f"The tenant {tenant} does not exist.")
    if not row["is_known"] and row["queued"] + len(jobs) > row["max_queued"]:
        raise QueueFull(row["queued"], len(jobs), row["max_queued"])


async def _lock_evaluations(connection: Connection, tenant: TenantId, evaluations: Set[JobId]) -> None:
    if evaluations:
        existing = await connection.fetch(_LOCK_EVALUATIONS, tenant, list(evaluations))
        if len(existing) < len(evaluations):
            raise EvaluationsDeleted(len(evaluations) - len(existing), len(evaluations))


def _split_into_chunks(jobs: Sequence[NewJob]) -> Iterator[list[NewJob]]:
    chunk: list[NewJob] = []
    size = 0
    for job in jobs:
        chunk.append(job)
        size += len(job.document or b"")
        if len(chunk) == _MAX_CHUNK_ROWS or size >= _MAX_CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _make_columns(jobs: Sequence[NewJob]) -> tuple[list[object], ...]:
    return (
        [job.id for job in jobs],
        [job.row for job in jobs],
        [job.request.kind for job in jobs],
        [PRIORITIES.index(job.priority) for job in jobs],
        [replace_nul(job.subject) for job in jobs],
        [request_to_json(job.request) for job in jobs],
        [job.document for job in jobs],
        [job.request.limits.max_usd for job in jobs],
        [job.traceparent for job in jobs],
        [",".join(find_suspicious_features(job.request)) for job in jobs],
        [job.document_file for job in jobs],
        [getattr(job.request, "method", None) for job in jobs],
        [getattr(job.request, "cutoff", None) for job in jobs],
        [getattr(job.request, "blind", False) for job in jobs],
    )
