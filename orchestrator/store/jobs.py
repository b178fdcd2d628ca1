"""A tenant's jobs and batches; those of other tenants are treated as if they did not exist."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar

import asyncpg
from pydantic import BaseModel

from assayer.models import Report
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.job_acts import CANCELLATION_ACTS
from orchestrator.jobs.fair_scheduler import QueuePosition, explain_wait
from orchestrator.jobs.models import BatchId, Job, JobId, JobKind, JobRequest, JobState, TenantId
from orchestrator.jobs.submissions import BatchRow, BatchStatus, Cursor, MoreRows, NewBatch, NewJob, Original
from orchestrator.settings import QueueSettings, RetentionSettings
from orchestrator.store import retention
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database, Store
from orchestrator.store.documents import PgDocuments
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse
from orchestrator.store.job_retry import RetryCounts, RetryPreview, preview_retry, retry_jobs
from orchestrator.store.job_sql import (
    IS_UNFINISHED,
    JOB_COLUMNS,
    PAID_SO_FAR,
    SPENT_THIS_MONTH,
    build_finish_statement,
    parse_request,
    reference_matches,
    source_ends,
    source_matches,
)
from orchestrator.store.job_submission import submit_jobs
from orchestrator.store.json_columns import from_json_column, replace_nul
from orchestrator.store.notifications import make_cancelled_notifications, notify
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.ranking_rows import WHOLE_REQUEST
from orchestrator.store.rows import from_row

R = TypeVar("R", bound=BaseModel)

_ADD_SECONDS = 600.0
_PAGE_ROWS = 50
_KEEP_FOREVER = RetentionSettings()

_SELECT_REQUEST = f"SELECT id, {WHOLE_REQUEST} AS request FROM jobs WHERE tenant = $1 AND id = $2"
_SELECT_ORIGINAL = """
    SELECT source_name AS name, blind FROM jobs
    WHERE tenant = $1 AND id = $2 AND (document IS NOT NULL OR document_file IS NOT NULL)
"""
_SELECT_DOCUMENT = "SELECT document, document_file FROM jobs WHERE tenant = $1 AND id = $2"
_SELECT_JOB = f"SELECT {JOB_COLUMNS} FROM jobs WHERE tenant = $1 AND id = $2"

_SELECT_JOBS = "SELECT {columns} FROM jobs WHERE {conditions} ORDER BY created_at DESC, id DESC LIMIT {limit}"

# Comparisons store their answers in rows, as rankings do.
_SELECT_RESULT = """
    SELECT CASE WHEN kind = 'comparison' THEN result || jsonb_build_object('answers', (
        SELECT coalesce(jsonb_agg(answer ORDER BY place), '[]') FROM ranking_pairs WHERE job = jobs.id
    )) ELSE result END AS result
    FROM jobs WHERE tenant = $1 AND id = $2 AND state = 'succeeded' AND result IS NOT NULL
"""

_SELECT_REPORT = """
    SELECT evaluations.report, coalesce(jobs.request #>> '{idea,source}', jobs.request ->> 'source') AS source
    FROM jobs JOIN evaluations ON evaluations.id = jobs.run_id
    WHERE jobs.tenant = $1 AND jobs.id = $2 AND jobs.state = 'succeeded'
"""

_SELECT_BATCH_ROWS = f"""
    SELECT page.*, CASE WHEN state = 'succeeded' THEN report END AS report
    FROM (
        SELECT {JOB_COLUMNS}, coalesce(request #>> '{{idea,source}}', request ->> 'source') AS whole_source FROM jobs
        WHERE tenant = $1 AND batch = $2 AND ($3::integer IS NULL OR "row" > $3)
          AND ($5::text IS NULL OR {reference_matches("source_name", "$5", "true")})
        ORDER BY "row" LIMIT $4
    ) AS page
    LEFT JOIN LATERAL (SELECT report FROM evaluations WHERE evaluations.id = page.run_id) AS run ON true
    ORDER BY "row"
"""

_SELECT_QUEUE_POSITION = f"""
    SELECT greatest(0, extract(epoch FROM ready_at - statement_timestamp()))::float8 AS seconds,
           (SELECT count(*) FROM jobs AS earlier WHERE earlier.tenant = own.tenant AND earlier.state = 'queued'
              AND (earlier.priority = 2) = (own.priority = 2)
              AND (earlier.priority, earlier.ready_at) < (own.priority, own.ready_at)) AS ahead,
           running.jobs AS running, CASE WHEN own.priority <> 2 THEN max_running END AS max_running,
           greatest(0, coalesce(max_usd, $3) - charged_usd) AS max_usd, monthly_usd,
           running.reserved AS reserved_usd,
           {SPENT_THIS_MONTH} AS spent_usd
    FROM jobs AS own JOIN tenants ON tenants.id = own.tenant CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE priority <> 2) AS jobs, coalesce(sum(reserved_usd), 0) AS reserved
        FROM jobs WHERE tenant = tenants.id AND state = 'running'
    ) AS running
    WHERE own.tenant = $1 AND own.id = $2 AND own.state = 'queued'
"""

_SELECT_FIRST_QUEUED = """
    SELECT id FROM jobs WHERE tenant = $1 AND batch = $2 AND state = 'queued' ORDER BY priority, ready_at LIMIT 1
"""

_COUNT_UNREAD_DOCUMENTS = """
    SELECT count(*) AS documents FROM jobs WHERE tenant = $1 AND batch = $2 AND state IN ('queued', 'running')
      AND coalesce(request -> 'idea', 'null') = 'null'
"""

_CANCEL_JOB = build_finish_statement(
    f"state = 'cancelled', cost_usd = {PAID_SO_FAR}",
    f"tenant = $1 AND {IS_UNFINISHED} AND id = $2",
    keep_if="$3::boolean",
)
_CANCEL_BATCH = build_finish_statement(
    f"state = 'cancelled', cost_usd = {PAID_SO_FAR}",
    f"id IN (SELECT id FROM jobs WHERE tenant = $1 AND batch = $2 AND {IS_UNFINISHED} ORDER BY id FOR UPDATE)",
    keep_if="$3::boolean",
)

_CLOSE_BATCH = "UPDATE batches SET open = false WHERE tenant = $1 AND id = $2 AND open RETURNING id"

_SELECT_NEXT_ROW = """
    SELECT 1 + greatest(
        rows, (SELECT max("row") FROM jobs WHERE batch = batches.id),
        (SELECT max((rejected_row ->> 'row')::integer) FROM jsonb_array_elements(rejected) AS rejected_row)
    ) AS next FROM batches WHERE tenant = $1 AND id = $2
"""
_SELECT_BATCHES = """
    SELECT batches.*, counts.*
    FROM (
        SELECT * FROM batches
        WHERE tenant = $1 AND ($2::text IS NULL OR id = $2)
          AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::text))
          AND ($6::text IS NULL OR $6 = ANY(tags)) AND ($7::boolean IS NULL OR $7 = (archived_at IS NOT NULL))
        ORDER BY created_at DESC, id DESC LIMIT $5
    ) AS batches
    CROSS JOIN LATERAL (
        SELECT array_agg(state) AS states, array_agg(jobs) AS jobs, coalesce(sum(cost), 0)::float8 AS known_cost_usd,
               CASE WHEN bool_and(last IS NOT NULL) THEN max(last) END AS finished_at,
               coalesce(bool_or(unpriced), false) AS unpriced
        FROM (
            SELECT state, count(*) AS jobs, sum(cost_usd) AS cost, max(finished_at) AS last,
                   bool_or(finished_at IS NOT NULL AND cost_usd IS NULL) AS unpriced
            FROM jobs WHERE batch = batches.id GROUP BY state
        ) AS by_state
    ) AS counts
    ORDER BY created_at DESC, id DESC
"""


class PgJobs(Store):
    def __init__(
        self,
        database: Database,
        settings: QueueSettings | None = None,
        documents: PgDocuments | None = None,
        document_days: int | None = None,
    ) -> None:
        """Create the store. Without `documents`, documents are stored in the jobs' rows. `document_days` is the number
        of days for which a document is kept after its job ends; None keeps it as long as the job."""
        super().__init__(database)
        self._documents = documents
        self._document_days = document_days
        self._settings = settings or QueueSettings()
        self._log = PgAuditLog(database)

    async def add(
        self,
        tenant: TenantId,
        jobs: Sequence[NewJob],
        batch: NewBatch | MoreRows | None = None,
        record: IdempotencyRecord | None = None,
        by: ActBy | None = None,
    ) -> RecordedResponse | None:
        """Add jobs, or return the recorded response if the same request was processed before. If `by` is passed,
        submissions of calls, further rows and rankings are recorded in the audit log. Raises the same errors as
        `submit_jobs`, and StorageError if a document cannot be stored."""
        documents = self._documents
        submitted_jobs = jobs if documents is None else await documents.write_documents(jobs)

        async def submit(connection: Connection) -> RecordedResponse | None:
            return await submit_jobs(connection, tenant, submitted_jobs, batch, record, self._log, by)

        try:
            return await self._database.run(submit, _ADD_SECONDS if len(jobs) > 1 else None)
        finally:
            # Releases only files of jobs that were not accepted.
            files = [job.document_file for job in submitted_jobs if job.document_file is not None]
            if documents is not None and files:
                await documents.release(files)

    async def get(self, tenant: TenantId, job: JobId) -> Job | None:
        return await self._database.select_one(Job, _SELECT_JOB, tenant, job)

    async def get_request(self, tenant: TenantId, job: JobId) -> JobRequest | None:
        """Return the request as submitted; None if the job does not exist."""
        row = await self._database.fetch_one(_SELECT_REQUEST, tenant, job)
        return None if row is None else parse_request(row)

    async def get_original(self, tenant: TenantId, job: JobId) -> Original | None:
        """Return the name of the job's document; None if the job has none, or it is no longer stored."""
        return await self._database.select_one(Original, _SELECT_ORIGINAL, tenant, job)

    async def read_original(self, tenant: TenantId, job: JobId) -> bytes | None:
        """Return the job's document; None if there is none. Raises FullTextError if its file no longer exists, and
        StorageError if the file store fails."""
        row = await self._database.fetch_one(_SELECT_DOCUMENT, tenant, job)
        if row is None or row["document_file"] is None or self._documents is None:
            return None if row is None else row["document"]
        return await self._documents.read(row["document_file"])

    async def list(
        self,
        tenant: TenantId,
        *,
        batch: BatchId | None = None,
        kind: JobKind | None = None,
        state: JobState | None = None,
        source: str | None = None,
        reference: str | None = None,
        after: Cursor | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """Return jobs, newest first, optionally filtered. `source` is the sender's name for the idea (see
        `source_matches`); `reference` is the sender's exact reference (see `reference_matches`)."""
        # The query contains only the requested conditions, because a plan that covers all optional ones would use no
        # index.
        values: list[object] = [tenant, limit]
        conditions = ["tenant = $1"]
        for column, value in (("batch", batch), ("kind", kind), ("state", state)):
            if value is not None:
                values.append(value)
                conditions.append(f"{column} = ${len(values)}")
        if after is not None:
            values += after
            conditions.append(f"(created_at, id) < (${len(values) - 1}, ${len(values)})")
        if source is not None:
            values.append(replace_nul(source))
            conditions += [source_ends(f"${len(values)}"), source_matches("source_name", f"${len(values)}")]
        if reference is not None:
            values.append(replace_nul(reference))
            condition = reference_matches("source_name", f"${len(values)}", '"row" IS NOT NULL')
            conditions += [source_ends(f"${len(values)}"), condition]
        query = _SELECT_JOBS.format(columns=JOB_COLUMNS, conditions=" AND ".join(conditions), limit="$2")
        return await self._database.select(Job, query, *values)

    async def get_result(self, tenant: TenantId, job: JobId, kind: type[R]) -> R | None:
        """Return the result of a succeeded job, otherwise None. For rankings, which are large, use `PgRankings`."""
        row = await self._database.fetch_one(_SELECT_RESULT, tenant, job)
        return None if row is None else from_json_column(kind, row["result"], f"The result of job {job}")

    async def get_report(self, tenant: TenantId, job: JobId) -> Report | None:
        """Return the report of a succeeded evaluation, otherwise None."""
        row = await self._database.fetch_one(_SELECT_REPORT, tenant, job)
        # Parsed in a thread, because reports are large.
        return None if row is None else await asyncio.to_thread(_parse_report, row["report"], row["source"] or "", job)

    async def explain_waiting(self, tenant: TenantId, job: JobId) -> str | None:
        """Return a sentence that explains why a queued job has not started; None if it is not queued."""
        position = await self._database.select_one(
            QueuePosition, _SELECT_QUEUE_POSITION, tenant, job, self._settings.max_usd
        )
        return None if position is None else explain_wait(position)

    async def explain_batch_waiting(self, tenant: TenantId, batch: BatchId) -> str | None:
        """Return a sentence that explains why the batch's first queued job has not started; None if none is queued."""
        row = await self._database.fetch_one(_SELECT_FIRST_QUEUED, tenant, batch)
        return None if row is None else await self.explain_waiting(tenant, row["id"])

    async def cancel(self, tenant: TenantId, job: JobId, by: ActBy | None = None) -> Job | None:
        """Cancel a job and return it; a job that has ended is left unchanged. Return None if the job does not exist.
        `by` is the actor for the audit log. Raises ReviewRefused if the job's call is signed off."""
        current_job = await self.get(tenant, job)
        if current_job is None:
            return None
        act = CANCELLATION_ACTS.get(current_job.kind)

        async def cancel_job(connection: Connection) -> None:
            async with connection.transaction():
                await prevent_sign_off(connection, tenant, job, exclusive=True)
                rows = await connection.fetch(_CANCEL_JOB, tenant, job, self._document_days != 0)
                if rows and by is not None and act is not None:
                    await self._log.append(connection, tenant, by, act, job)
            await notify(connection, make_cancelled_notifications(rows))

        await self._database.run(cancel_job)
        return await self.get(tenant, job)

    async def cancel_batch(self, tenant: TenantId, batch: BatchId, by: ActBy | None = None) -> int:
        """Close the batch, cancel its jobs that have not ended, and return their number. `by` is the actor for the
        audit log. Raises ReviewRefused if the batch is signed off."""

        async def cancel_jobs(connection: Connection) -> int:
            async with connection.transaction():
                await prevent_sign_off(connection, tenant, batch, exclusive=True)
                closed = await connection.fetch(_CLOSE_BATCH, tenant, batch)
                rows = await connection.fetch(_CANCEL_BATCH, tenant, batch, self._document_days != 0)
                if by is not None and (rows or closed):
                    await self._log.append(connection, tenant, by, "call cancelled", batch, evaluations=len(rows))
            await notify(connection, make_cancelled_notifications(rows))
            return len(rows)

        return await self._database.run(cancel_jobs)

    async def preview_retry(self, tenant: TenantId, *, job: str = "", batch: str = "") -> RetryPreview:
        """Return what a retry of a job, or of all jobs in a batch, would do."""
        return await preview_retry(self._database, tenant, self._document_days, job=job, batch=batch)

    async def count_unread_documents(self, tenant: TenantId, batch: BatchId) -> int:
        """Return the number of unfinished evaluations of a batch whose proposals are documents."""
        row = await self._database.fetch_one(_COUNT_UNREAD_DOCUMENTS, tenant, batch)
        return 0 if row is None else int(row["documents"])

    async def retry(self, tenant: TenantId, job: JobId, by: ActBy | None = None) -> RetryCounts:
        """Return a failed or cancelled job to the queue. `by` is the actor for the audit log. Raises QueueFull if the
        tenant's queue has no room, and ReviewRefused if the job's call is signed off."""
        return await self._database.run(lambda connection: retry_jobs(connection, tenant, self._log, by, job=job))

    async def retry_batch(self, tenant: TenantId, batch: BatchId, by: ActBy | None = None) -> RetryCounts:
        """Return all failed or cancelled jobs in a batch to the queue. `by` is the actor for the audit log. Raises
        QueueFull if the tenant's queue has no room, and ReviewRefused if the batch is signed off."""
        return await self._database.run(
            lambda connection: retry_jobs(connection, tenant, self._log, by, batch=batch), _ADD_SECONDS
        )

    async def get_batch(self, tenant: TenantId, batch: BatchId) -> BatchStatus | None:
        rows = await self._database.fetch(_SELECT_BATCHES, tenant, batch, None, None, 1, None, None)
        return _to_batch_status(rows[0]) if rows else None

    async def get_next_row(self, tenant: TenantId, batch: BatchId) -> int:
        """Return the number of the first row that can be added to a batch."""
        row = await self._database.fetch_one(_SELECT_NEXT_ROW, tenant, batch)
        return 1 if row is None else int(row["next"])

    async def list_batches(
        self,
        tenant: TenantId,
        *,
        after: Cursor | None = None,
        limit: int = 50,
        tag: str | None = None,
        archived: bool | None = None,
    ) -> Sequence[BatchStatus]:
        """Return batches, newest first. `archived` selects archived batches if True, the others if False, and all if
        None."""
        rows = await self._database.fetch(_SELECT_BATCHES, tenant, None, *(after or (None, None)), limit, tag, archived)
        return [_to_batch_status(row) for row in rows]

    async def iterate_batch_rows(
        self, tenant: TenantId, batch: BatchId, reference: str | None = None
    ) -> AsyncIterator[BatchRow]:
        """Yield a batch's jobs in row order, optionally only those with this reference. They are read page by page."""
        last: int | None = None
        name = None if reference is None else replace_nul(reference)
        while rows := await self._database.fetch(_SELECT_BATCH_ROWS, tenant, batch, last, _PAGE_ROWS, name):
            # Parsed in a thread, because reports are large and would block the event loop.
            for item in await asyncio.to_thread(lambda page: [_to_batch_row(row) for row in page], rows):
                yield item
            last = rows[-1]["row"]

    async def purge(self, now: dt.datetime, retention_settings: RetentionSettings = _KEEP_FOREVER) -> int:
        """Delete jobs, and rows in other tables, whose retention period has ended. Return the number of jobs."""
        return await retention.purge(self._database, now, retention_settings)

    async def delete_expired_documents(self, now: dt.datetime) -> int:
        """Delete the documents of jobs that ended more than `document_days` ago. Return the number of documents."""
        if self._document_days is None:
            return 0
        return await retention.delete_documents(self._database, now - dt.timedelta(days=self._document_days))


def _to_batch_row(row: asyncpg.Record) -> BatchRow:
    job = from_row(Job, row)
    source = row["whole_source"] or ""
    return BatchRow(job, source, None if row["report"] is None else _parse_report(row["report"], source, job.id))


def _parse_report(document: str, source: str, job: JobId) -> Report:
    """Return the report with this job's source. The report may come from an earlier job for the same idea, whose source
    other tenants must not see."""
    report = from_json_column(Report, document, f"The report of job {job}")
    return report.model_copy(update={"idea": report.idea.model_copy(update={"source": source})})


def _to_batch_status(row: Any) -> BatchStatus:
    finished = None if row["open"] else row["finished_at"] or (None if row["states"] else row["created_at"])
    return from_row(
        BatchStatus,
        row,
        cost_usd=None if row["unpriced"] or row["erased"] else row["known_cost_usd"],
        counts=dict(zip(row["states"] or (), row["jobs"] or (), strict=True)),
        finished_at=finished,
    )
