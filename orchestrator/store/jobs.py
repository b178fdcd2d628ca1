"""Jobs and batches as their tenants see them: those of other tenants do not exist."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar

import asyncpg
from pydantic import TypeAdapter

from assayer.models import Frozen, Report
from orchestrator.batches.rows import RejectedRow
from orchestrator.jobs.acts import CANCELLED, ActBy
from orchestrator.jobs.fair_scheduler import QueuePosition, waiting_reason
from orchestrator.jobs.models import BatchId, Job, JobId, JobKind, JobRequest, JobState, TenantId
from orchestrator.jobs.submissions import BatchRow, BatchStatus, Cursor, MoreRows, NewBatch, NewJob
from orchestrator.settings import QueueSettings
from orchestrator.store import retention
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.documents import PgDocuments
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse
from orchestrator.store.job_retry import Retriable, Retried, count_retriable, retry_jobs
from orchestrator.store.job_sql import (
    JOB_COLUMNS,
    PAID_SO_FAR,
    called,
    finish_statement,
    job_of_row,
    referred_to,
    request_of_row,
)
from orchestrator.store.job_submission import submit_jobs
from orchestrator.store.json_columns import from_json_column, from_json_column_as, storable_text
from orchestrator.store.notifications import cancelled_notifications, notify
from orchestrator.store.open_calls import hold_call_open
from orchestrator.store.rows import from_row

__all__ = ["PgJobs"]

R = TypeVar("R", bound=Frozen)

_ADD_SECONDS = 600.0
_PAGE = 50
_REJECTED = TypeAdapter(tuple[RejectedRow, ...])

_GET = f"SELECT {JOB_COLUMNS} FROM jobs WHERE tenant = $1 AND id = $2"  # noqa: S608 - put together from constants

_LIST = f"""
    SELECT {JOB_COLUMNS} FROM jobs
    WHERE tenant = $1 AND ($2::text IS NULL OR batch = $2) AND ($3::text IS NULL OR kind = $3)
      AND ($4::text IS NULL OR state = $4) AND ($5::timestamptz IS NULL OR (created_at, id) < ($5, $6::text))
      AND ($8::text IS NULL OR {called("source_name", "$8")})
      AND ($9::text IS NULL OR {referred_to("source_name", "$9", '"row" IS NOT NULL')})
    ORDER BY created_at DESC, id DESC LIMIT $7
"""  # noqa: S608 - put together from constants

_REPORT = """
    SELECT evaluations.report, coalesce(jobs.request #>> '{idea,source}', jobs.request ->> 'source') AS source
    FROM jobs JOIN evaluations ON evaluations.id = jobs.run_id
    WHERE jobs.tenant = $1 AND jobs.id = $2 AND jobs.state = 'done'
"""

_REPORTS = f"""
    SELECT page.*, CASE WHEN state = 'done' THEN report END AS report
    FROM (
        SELECT {JOB_COLUMNS}, coalesce(request #>> '{{idea,source}}', request ->> 'source') AS source FROM jobs
        WHERE tenant = $1 AND batch = $2 AND ($3::integer IS NULL OR "row" > $3)
          AND ($5::text IS NULL OR {referred_to("source_name", "$5", "true")})
        ORDER BY "row" LIMIT $4
    ) AS page
    LEFT JOIN LATERAL (SELECT report FROM evaluations WHERE evaluations.id = page.run_id) AS run ON true
    ORDER BY "row"
"""  # noqa: S608 - put together from constants

_CIRCUMSTANCES = """
    SELECT greatest(0, extract(epoch FROM ready_at - statement_timestamp()))::float8 AS seconds,
           (SELECT count(*) FROM jobs AS before WHERE before.tenant = mine.tenant AND before.state = 'queued'
              AND (before.priority = 2) = (mine.priority = 2)
              AND (before.priority, before.ready_at) < (mine.priority, mine.ready_at)) AS ahead,
           running.jobs AS running, CASE WHEN mine.priority <> 2 THEN max_running END AS max_running,
           greatest(0, coalesce(max_usd, $3) - charged_usd) AS max_usd, monthly_usd,
           running.reserved AS reserved_usd,
           (SELECT coalesce(sum(usd), 0) FROM spending WHERE tenant = tenants.id
              AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date) AS spent_usd
    FROM jobs AS mine JOIN tenants ON tenants.id = mine.tenant CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE priority <> 2) AS jobs, coalesce(sum(reserved_usd), 0) AS reserved
        FROM jobs WHERE tenant = tenants.id AND state = 'running'
    ) AS running
    WHERE mine.tenant = $1 AND mine.id = $2 AND mine.state = 'queued'
"""

_FIRST_QUEUED = """
    SELECT id FROM jobs WHERE tenant = $1 AND batch = $2 AND state = 'queued' ORDER BY priority, ready_at LIMIT 1
"""

_UNREAD_DOCUMENTS = """
    SELECT count(*) AS documents FROM jobs WHERE tenant = $1 AND batch = $2 AND state IN ('queued', 'running')
      AND coalesce(request -> 'idea', 'null') = 'null'
"""

_CANCEL = finish_statement(
    f"state = 'cancelled', cost_usd = {PAID_SO_FAR}",
    "tenant = $1 AND state IN ('queued', 'running') AND id = $2",
    keeps="$3::boolean",
)
_CANCEL_BATCH = finish_statement(
    f"state = 'cancelled', cost_usd = {PAID_SO_FAR}",
    "id IN (SELECT id FROM jobs WHERE tenant = $1 AND batch = $2 AND state IN ('queued', 'running') "
    "ORDER BY id FOR UPDATE)",
    keeps="$3::boolean",
)

_CLOSE = "UPDATE batches SET open = false WHERE tenant = $1 AND id = $2 AND open RETURNING id"

_BATCHES = """
    SELECT batches.*, counts.*, EXISTS (
        SELECT FROM jobs WHERE jobs.batch = batches.id AND finished_at IS NOT NULL AND cost_usd IS NULL
    ) AS unpriced
    FROM (
        SELECT * FROM batches
        WHERE tenant = $1 AND ($2::text IS NULL OR id = $2)
          AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::text))
          AND ($6::text IS NULL OR $6 = ANY(tags))
        ORDER BY created_at DESC, id DESC LIMIT $5
    ) AS batches
    CROSS JOIN LATERAL (
        SELECT array_agg(state) AS states, array_agg(jobs) AS jobs, coalesce(sum(cost), 0)::float8 AS known_cost_usd,
               CASE WHEN bool_and(state NOT IN ('queued', 'running')) THEN max(last) END AS finished_at
        FROM (
            SELECT state, sum(jobs) AS jobs, sum(cost_usd) AS cost, max(finished_at) AS last
            FROM batch_counts WHERE batch = batches.id GROUP BY state HAVING sum(jobs) > 0
        ) AS by_state
    ) AS counts
    ORDER BY created_at DESC, id DESC
"""


class PgJobs:
    def __init__(
        self,
        database: Database,
        settings: QueueSettings | None = None,
        documents: PgDocuments | None = None,
        document_days: int = 30,
    ) -> None:
        """Without `documents` they lie in the rows of their jobs. `document_days`: how long they stay there after their
        jobs were cancelled, failed or were given up."""
        self._database = database
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
        """All of them, or nothing and the recorded response to the same request. `by`: whose act it is; calls, their
        parts and rankings stand in the audit log. Raises IdempotencyKeyReused, QueueFull, BatchClosed,
        EvaluationsDeleted."""
        if self._documents is None:
            return await self._add(tenant, jobs, batch, record, by)
        written = await self._documents.written(jobs)
        try:
            return await self._add(tenant, written, batch, record, by)
        finally:
            # Of jobs that were not accepted. Those that were keep them.
            if files := [job.document_file for job in written if job.document_file is not None]:
                await self._documents.release(files)

    async def _add(
        self,
        tenant: TenantId,
        jobs: Sequence[NewJob],
        batch: NewBatch | MoreRows | None,
        record: IdempotencyRecord | None,
        by: ActBy | None,
    ) -> RecordedResponse | None:
        async def work(connection: Connection) -> RecordedResponse | None:
            return await submit_jobs(connection, tenant, jobs, batch, record, self._log, by)

        return await self._database.run(work, _ADD_SECONDS if len(jobs) > 1 else None)

    async def get(self, tenant: TenantId, job: JobId) -> Job | None:
        row = await self._database.fetch_one(_GET, tenant, job)
        return None if row is None else job_of_row(row)

    async def request(self, tenant: TenantId, job: JobId) -> JobRequest | None:
        """What was submitted."""
        query = "SELECT id, request FROM jobs WHERE tenant = $1 AND id = $2"
        row = await self._database.fetch_one(query, tenant, job)
        return None if row is None else request_of_row(row)

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
        """The newest first; of one `source`, as its sender calls it, or of its own `reference` alone."""
        names = [None if name is None else storable_text(name) for name in (source, reference)]
        rows = await self._database.fetch(_LIST, tenant, batch, kind, state, *(after or (None, None)), limit, *names)
        return [job_of_row(row) for row in rows]

    async def result(self, tenant: TenantId, job: JobId, kind: type[R]) -> R | None:
        """Of a job that is done; rankings, which are large, are read with `PgRankings`."""
        query = "SELECT result FROM jobs WHERE tenant = $1 AND id = $2 AND state = 'done' AND result IS NOT NULL"
        row = await self._database.fetch_one(query, tenant, job)
        return None if row is None else from_json_column(kind, row["result"], f"The result of job {job}")

    async def report(self, tenant: TenantId, job: JobId) -> Report | None:
        """Of an evaluation that is done."""
        row = await self._database.fetch_one(_REPORT, tenant, job)
        # In a thread, as those of a batch.
        return None if row is None else await asyncio.to_thread(_report_of_row, row, job)

    async def waiting_reason(self, tenant: TenantId, job: JobId) -> str | None:
        """Why a queued job does not run yet, for people; None when it is not queued."""
        row = await self._database.fetch_one(_CIRCUMSTANCES, tenant, job, self._settings.max_usd)
        return None if row is None else waiting_reason(from_row(QueuePosition, row))

    async def batch_waiting_reason(self, tenant: TenantId, batch: BatchId) -> str | None:
        """Why the first of its queued jobs does not run yet; None when none is queued."""
        row = await self._database.fetch_one(_FIRST_QUEUED, tenant, batch)
        return None if row is None else await self.waiting_reason(tenant, row["id"])

    async def cancel(self, tenant: TenantId, job: JobId, by: ActBy | None = None) -> Job | None:
        """A job that has ended stays as it is. `by`: whose act it is, for the audit log. Raises ReviewRefused where its
        call is signed off."""
        found = await self.get(tenant, job)
        if found is None:
            return None
        act = CANCELLED.get(found.kind)

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await hold_call_open(connection, tenant, job, alone=True)
                rows = await connection.fetch(_CANCEL, tenant, job, self._document_days > 0)
                if rows and by is not None and act is not None:
                    await self._log.append(connection, tenant, by.actor, act, job, by.at)
            await _tell_cancelled(connection, rows)

        await self._database.run(work)
        return await self.get(tenant, job)

    async def cancel_batch(self, tenant: TenantId, batch: BatchId, by: ActBy | None = None) -> int:
        """Cancels its jobs that have not ended, and closes it; how many jobs they were. `by`: whose act it is, for the
        audit log. Raises ReviewRefused where it is signed off."""

        async def work(connection: Connection) -> int:
            async with connection.transaction():
                await hold_call_open(connection, tenant, batch, alone=True)
                closed = await connection.fetch(_CLOSE, tenant, batch)
                rows = await connection.fetch(_CANCEL_BATCH, tenant, batch, self._document_days > 0)
                if by is not None and (rows or closed):
                    said = {"evaluations": len(rows)}
                    await self._log.append(connection, tenant, by.actor, "call cancelled", batch, by.at, **said)
            await _tell_cancelled(connection, rows)
            return len(rows)

        return await self._database.run(work)

    async def retriable(self, tenant: TenantId, *, job: str = "", batch: str = "") -> Retriable:
        """What running a job, or all of a batch, again would come to."""
        return await count_retriable(self._database, tenant, self._document_days, job=job, batch=batch)

    async def unread_documents(self, tenant: TenantId, batch: BatchId) -> int:
        """Of a batch, documents whose evaluation has not ended."""
        row = await self._database.fetch_one(_UNREAD_DOCUMENTS, tenant, batch)
        return 0 if row is None else int(row["documents"])

    async def retry(self, tenant: TenantId, job: JobId, by: ActBy | None = None) -> Retried:
        """Puts a job that failed, was given up or was cancelled back into the queue. `by`: whose act it is, for the
        audit log. Raises QueueFull, ReviewRefused where its call is signed off."""
        return await self._database.run(lambda connection: retry_jobs(connection, tenant, self._log, by, job=job))

    async def retry_batch(self, tenant: TenantId, batch: BatchId, by: ActBy | None = None) -> Retried:
        """All of its jobs that failed, were given up or were cancelled. `by`: as above. Raises QueueFull, ReviewRefused
        where it is signed off."""
        return await self._database.run(
            lambda connection: retry_jobs(connection, tenant, self._log, by, batch=batch), _ADD_SECONDS
        )

    async def batch(self, tenant: TenantId, batch: BatchId) -> BatchStatus | None:
        rows = await self._database.fetch(_BATCHES, tenant, batch, None, None, 1, None)
        return _batch(rows[0]) if rows else None

    async def batches(
        self, tenant: TenantId, *, after: Cursor | None = None, limit: int = 50, tag: str | None = None
    ) -> Sequence[BatchStatus]:
        """The newest first."""
        rows = await self._database.fetch(_BATCHES, tenant, None, *(after or (None, None)), limit, tag)
        return [_batch(row) for row in rows]

    async def batch_rows(
        self, tenant: TenantId, batch: BatchId, reference: str | None = None
    ) -> AsyncIterator[BatchRow]:
        """Every job of a batch, or those of one reference, in the order of its rows, a page at a time."""
        last: int | None = None
        name = None if reference is None else storable_text(reference)
        while rows := await self._database.fetch(_REPORTS, tenant, batch, last, _PAGE, name):
            # In a thread: reports are large, and the event loop serves other requests meanwhile.
            for one in await asyncio.to_thread(lambda page: [_batch_row(row) for row in page], rows):
                yield one
            last = rows[-1]["row"]

    async def purge(self, now: dt.datetime) -> int:
        """Deletes jobs past their tenant's retention, old idempotency records and deliveries. Returns how many jobs."""
        return await retention.purge(self._database, now)

    async def forget_documents(self, now: dt.datetime) -> int:
        """Of jobs that ended without a result too long ago to be run again, or whose call is signed off; how many."""
        return await retention.forget_documents(self._database, now - dt.timedelta(days=self._document_days))


async def _tell_cancelled(connection: Connection, rows: Sequence[asyncpg.Record]) -> None:
    await notify(connection, (one for row in rows for one in cancelled_notifications(row["id"])))


def _batch_row(row: asyncpg.Record) -> BatchRow:
    job = job_of_row(row)
    return BatchRow(job, row["source"] or "", None if row["report"] is None else _report_of_row(row, job.id))


def _report_of_row(row: asyncpg.Record, job: JobId) -> Report:
    """With the source of this job's idea: the job that evaluated the same idea first may have called it something
    else, which other tenants must not see."""
    report = from_json_column(Report, row["report"], f"The report of job {job}")
    return report.model_copy(update={"idea": report.idea.model_copy(update={"source": row["source"] or ""})})


def _batch(row: Any) -> BatchStatus:
    counts = zip(row["states"] or (), row["jobs"] or (), strict=True)
    names = (
        "id",
        "tenant",
        "name",
        "rows",
        "open",
        "erased",
        "known_cost_usd",
        "created_at",
        "opinions_due",
        "submitted_by",
    )
    finished = None if row["open"] else row["finished_at"] or (None if row["states"] else row["created_at"])
    return BatchStatus(
        **{name: row[name] for name in names},
        tags=tuple(row["tags"]),
        cost_usd=None if row["unpriced"] else row["known_cost_usd"],
        rejected=from_json_column_as(_REJECTED, row["rejected"], f"The refused rows of batch {row['id']}"),
        counts=dict(counts),
        finished_at=finished,
    )
