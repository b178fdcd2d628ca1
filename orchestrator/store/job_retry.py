"""Retries of failed and cancelled jobs at the tenant's request. A retried job keeps its id, its row and the model
answers already paid for. The event for its previous verdict becomes a `retried` event, so that only the latest verdict
counts. A job whose document is no longer stored (docs/adr/0037) cannot be retried and stays as it is."""

import datetime as dt
from typing import NamedTuple

from orchestrator.access.audit_chain import ActBy, AuditedAct
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.submissions import QueueFull
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.job_sql import IS_RETRIABLE
from orchestrator.store.notifications import JOB_QUEUED, make_event_notification, notify
from orchestrator.store.open_calls import prevent_sign_off

_WITHOUT_RESULT = f"jobs.tenant = $1 AND jobs.{{column}} = $2 AND {IS_RETRIABLE}"
_READABLE = """(
    kind <> 'evaluation' OR coalesce(request -> 'idea', 'null') <> 'null' OR document IS NOT NULL
    OR document_file IS NOT NULL
)"""

_COUNT_JOBS = f"""
    SELECT count(*) FILTER (WHERE {_READABLE}) AS jobs, count(*) FILTER (WHERE NOT {_READABLE}) AS unreadable,
           min(finished_at) FILTER (WHERE document IS NOT NULL OR document_file IS NOT NULL) AS first_document,
           (SELECT retention_days FROM tenants WHERE id = $1) AS retention_days,
           (SELECT max_queued FROM tenants WHERE id = $1) AS max_queued,
           (SELECT count(*) FROM jobs AS waiting WHERE waiting.tenant = $1 AND waiting.state = 'queued') AS queued
    FROM jobs WHERE {_WITHOUT_RESULT}
"""

_RETRY_JOBS = f"""
    WITH ended AS (
        SELECT id, state, cost_usd AS charged, problem ->> 'title' AS title FROM jobs
        WHERE {_WITHOUT_RESULT} AND {_READABLE} ORDER BY id FOR UPDATE
    ), queued AS (
        UPDATE jobs
        SET state = 'queued', finished_at = NULL, problem = NULL, result = NULL, cost_usd = NULL, failures = 0,
            losses = 0, outages = 0, reasons = '{{{{}}}}', ready_at = statement_timestamp(),
            charged_usd = greatest(charged_usd, ended.charged)
        FROM ended WHERE jobs.id = ended.id
        RETURNING jobs.id, batch, last_event, ended.state, ended.title
    ), event AS (
        UPDATE events
        SET kind = 'retried', data = jsonb_build_object('after_seconds', 0, 'reason', concat_ws(': ',
            CASE queued.state WHEN 'cancelled' THEN 'it was cancelled' ELSE 'it failed' END, title))
        FROM queued WHERE events.job = queued.id AND events.number = queued.last_event
    ), unfinished AS (
        UPDATE batches SET told = false WHERE id IN (SELECT batch FROM queued)
    )
    SELECT id FROM queued
"""


class RetryCounts(NamedTuple):
    jobs: int
    """Number of jobs returned to the queue."""
    unreadable: int
    """Number of jobs that were not retried because their document is no longer stored."""


class RetryPreview(NamedTuple):
    """The expected effect of a retry."""

    jobs: int
    unreadable: int
    documents_until: dt.datetime | None
    """When the first of the jobs' documents will be deleted; None if there are no documents or no time limit."""


async def preview_retry(
    database: Database, tenant: TenantId, document_days: int | None, *, job: str = "", batch: str = ""
) -> RetryPreview:
    """Return what a retry of a job, or of a batch, would do. `document_days` is how long documents are stored; None
    means without limit."""
    column, id = ("id", job) if job else ("batch", batch)
    row = await database.fetch_one(_COUNT_JOBS.format(column=column), tenant, id)
    if row is None:
        return RetryPreview(0, 0, None)
    limits = [days for days in (document_days, row["retention_days"]) if days is not None]
    first_end = row["first_document"]
    until = first_end + dt.timedelta(days=min(limits)) if limits and first_end is not None else None
    return RetryPreview(row["jobs"], row["unreadable"], until)


async def retry_jobs(
    connection: Connection, tenant: TenantId, log: PgAuditLog, by: ActBy | None, *, job: str = "", batch: str = ""
) -> RetryCounts:
    """Retry a job, or all jobs in a batch; jobs that succeeded or have not ended are left alone. `by` is the actor for
    the audit log. Raises QueueFull if the tenant's queue has no room, and ReviewRefused if the call is signed off."""
    column, id = ("id", job) if job else ("batch", batch)
    async with connection.transaction():
        await prevent_sign_off(connection, tenant, id, exclusive=True)
        counts = await connection.fetchrow(_COUNT_JOBS.format(column=column), tenant, id)
        if counts is None or not counts["jobs"]:
            return RetryCounts(0, 0 if counts is None else counts["unreadable"])
        if counts["queued"] + counts["jobs"] > counts["max_queued"]:
            raise QueueFull(counts["queued"], counts["jobs"], counts["max_queued"])
        rows = await connection.fetch(_RETRY_JOBS.format(column=column), tenant, id)
        # Counted again, because documents may have been deleted while this transaction was waiting for locks.
        counts_now = await connection.fetchrow(_COUNT_JOBS.format(column=column), tenant, id)
        if by is not None and rows:
            act: AuditedAct = "evaluation run again" if job else "call run again"
            content = {} if job else {"evaluations": len(rows)}
            await log.append(connection, tenant, by, act, id, **content)
    await notify(connection, [JOB_QUEUED, *(make_event_notification(row["id"]) for row in rows)])
    return RetryCounts(len(rows), 0 if counts_now is None else counts_now["unreadable"])
