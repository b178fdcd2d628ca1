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
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, recorded_response
from orchestrator.store.job_sql import PRIORITIES
from orchestrator.store.json_columns import json_without_nul, mapping_to_json_column, storable_text
from orchestrator.store.notifications import JOB_QUEUED, notify
from orchestrator.store.open_calls import hold_call_open
from orchestrator.store.ranking_rows import add_ranking, stored_request

_CHUNK_ROWS = 500
_CHUNK_BYTES = 16_000_000
"""Maximum number of document bytes in one statement, so that it completes within its timeout."""

_QUEUE_ROOM = """
    SELECT max_queued, EXISTS (SELECT FROM jobs WHERE id = $2) AS known,
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
        SELECT coalesce(jsonb_agg(old ORDER BY place), '[]') AS left_over
        FROM batches, jsonb_array_elements(rejected) WITH ORDINALITY AS each (old, place)
        WHERE tenant = $1 AND id = $2 AND NOT (old ->> 'row')::integer = ANY($8::integer[])
    ) AS unreplaced
    WHERE tenant = $1 AND id = $2 AND (open OR $7) AND NOT EXISTS (SELECT FROM sign_offs WHERE batch = $2)
      AND NOT EXISTS (SELECT FROM jobs WHERE batch = $2 AND "row" >= $3)
      AND NOT EXISTS (SELECT FROM jsonb_array_elements(rejected) AS old WHERE (old ->> 'row')::integer >= $3)
    RETURNING id
"""
_KNOWN_JOB = "SELECT true FROM jobs WHERE id = $1"
_KNOWN_REJECTED = "SELECT rejected @> $3::jsonb FROM batches WHERE tenant = $1 AND id = $2"

# Evaluations that an erasure has already deleted are missing from the result. An erasure of the others waits for this
# lock, and finds the new job when it searches again. Here jobs are locked before their call. This cannot deadlock,
# because transactions that lock a call and then its jobs do not wait for this kind of lock.
_HOLD_EVALUATIONS = "SELECT FROM jobs WHERE tenant = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE"

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
        if record is not None and (recorded := await recorded_response(connection, tenant, record)):
            return recorded
        await _check_queue_room(connection, tenant, jobs)
        await _hold_evaluations(connection, tenant, {item for job in jobs for item in job.required_evaluations})
        new = batch is not None and await _insert_batch(connection, tenant, batch, jobs)
        for part in _chunks(jobs):
            added = await connection.fetch(_INSERT_JOBS, tenant, batch.id if batch else None, *_columns(part))
            new = new or bool(added)
            await _keep_applicants(connection, part if added else ())
            if added and isinstance(part[0].request, RankingRequest):
                await add_ranking(connection, tenant, part[0].id, part[0].request)
        # The log entry comes last, because other writers to the log wait from here until the commit.
        if by is not None and new and (content := _audit_content(batch, jobs, by)):
            await log.append(connection, tenant, by, content.act, content.subject, **content.content)
    await notify(connection, [JOB_QUEUED])
    return None


async def _keep_applicants(connection: Connection, jobs: Sequence[NewJob]) -> None:
    """Store the applicants named in these jobs' rows, if any."""
    known = [(job.id, job.applicant) for job in jobs if any(job.applicant)]
    if known:
        columns = (
            [id for id, _ in known],
            [storable_text(applicant.name) for _, applicant in known],
            [storable_text(applicant.institution) for _, applicant in known],
            [applicant.amount for _, applicant in known],
            [mapping_to_json_column(applicant.columns) for _, applicant in known],
        )
        await connection.fetch(_INSERT_APPLICANTS, *columns)


def _audit_content(batch: NewBatch | MoreRows | None, jobs: Sequence[NewJob], by: ActBy) -> EntryContent | None:
    if batch is not None:
        return build_rows_entry(batch, jobs)
    ranking = jobs[0].request
    return build_ranking_entry(jobs[0], ranking, by.call) if isinstance(ranking, RankingRequest) else None


async def _insert_batch(
    connection: Connection, tenant: TenantId, batch: NewBatch | MoreRows, jobs: Sequence[NewJob]
) -> bool:
    """Insert a batch, or add more rows to it. Return False if an earlier attempt already did so. Raises BatchClosed if
    the batch accepts no more rows, and ReviewRefused if it is signed off."""
    rejected = json_without_nul(json.dumps([row.model_dump(mode="json") for row in batch.rejected]))
    if isinstance(batch, NewBatch):
        name, tags = storable_text(batch.name), [storable_text(tag) for tag in batch.tags]
        values = (name, batch.rows, rejected, batch.open, tags, batch.opinions_due, batch.submitted_by)
        return bool(await connection.fetch(_INSERT_BATCH, tenant, batch.id, *values))
    await connection.fetch(_LOCK_BATCH, tenant, batch.id)
    part = (batch.first, batch.rows, rejected, batch.open, batch.reopen, list(batch.replaces))
    added = await connection.fetch(_EXTEND_BATCH, tenant, batch.id, *part)
    if added:
        return True
    # It may have been added by an attempt whose response was lost.
    known: bool | None = False
    if jobs:
        known = await connection.fetchval(_KNOWN_JOB, jobs[0].id)
    elif batch.rejected:
        known = await connection.fetchval(_KNOWN_REJECTED, tenant, batch.id, rejected)
    if not known:
        await hold_call_open(connection, tenant, batch.id)
        raise BatchClosed(batch.id, batch.first)
    return False


async def _check_queue_room(connection: Connection, tenant: TenantId, jobs: Sequence[NewJob]) -> None:
    """Raise QueueFull if the jobs would exceed the tenant's limit for queued jobs, and InputError if the tenant does
    not exist. Concurrent requests can together exceed the limit slightly."""
    row = await connection.fetchrow(_QUEUE_ROOM, tenant, jobs[0].id if jobs else "")
    if row is None:
        raise InputError(f"The tenant {tenant} does not exist.")
    if not row["known"] and row["queued"] + len(jobs) > row["max_queued"]:
        raise QueueFull(row["queued"], len(jobs), row["max_queued"])


async def _hold_evaluations(connection: Connection, tenant: TenantId, evaluations: Set[JobId]) -> None:
    if evaluations:
        existing = await connection.fetch(_HOLD_EVALUATIONS, tenant, list(evaluations))
        if len(existing) < len(evaluations):
            raise EvaluationsDeleted(len(evaluations) - len(existing), len(evaluations))


def _chunks(jobs: Sequence[NewJob]) -> Iterator[list[NewJob]]:
    part: list[NewJob] = []
    size = 0
    for job in jobs:
        part.append(job)
        size += len(job.document or b"")
        if len(part) == _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _columns(jobs: Sequence[NewJob]) -> tuple[list[object], ...]:
    return (
        [job.id for job in jobs],
        [job.row for job in jobs],
        [job.request.kind for job in jobs],
        [PRIORITIES.index(job.priority) for job in jobs],
        [storable_text(job.subject) for job in jobs],
        [stored_request(job.request) for job in jobs],
        [job.document for job in jobs],
        [job.request.limits.max_usd for job in jobs],
        [job.traceparent for job in jobs],
        [",".join(find_suspicious_features(job.request)) for job in jobs],
        [job.document_file for job in jobs],
        [getattr(job.request, "method", None) for job in jobs],
        [getattr(job.request, "cutoff", None) for job in jobs],
        [getattr(job.request, "blind", False) for job in jobs],
    )
