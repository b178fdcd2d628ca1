"""Deletion of jobs (one by one or at the end of their retention period) and of tenants, with all data that belongs to
them."""

import datetime as dt
from collections.abc import Mapping, Sequence

from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.settings import RetentionSettings
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.job_sql import RELEASE_FILES
from orchestrator.store.tombstones import build_tombstone_insert

_JOBS_PER_STATEMENT = 200
_ROWS_PER_STATEMENT = 10_000
_DAY = dt.timedelta(days=1)
"""Age at which an open batch is closed."""
_WEEK = dt.timedelta(days=7)

# Deletes jobs and those of their runs that no other job shares. With a run, its report, its answers (including any that
# a worker stores later) and its requests waiting for a batch are deleted. The ledger is kept for accounting.
_DELETE_JOBS_TEMPLATE = """
    WITH chosen AS (
        SELECT id FROM jobs WHERE {condition} ORDER BY id FOR UPDATE
    ), orphaned AS (
        SELECT DISTINCT run_id FROM runs JOIN chosen ON chosen.id = runs.job WHERE NOT EXISTS (
            SELECT FROM runs AS others WHERE others.run_id = runs.run_id AND others.job NOT IN (SELECT id FROM chosen)
        )
    ), erased AS (
        INSERT INTO erased_runs (run_id) SELECT run_id FROM orphaned ORDER BY 1 ON CONFLICT DO NOTHING
    ), reports AS (
        DELETE FROM evaluations WHERE id IN (SELECT run_id FROM orphaned)
    ), stored_answers AS (
        DELETE FROM answers WHERE key IN (
            SELECT key FROM ledger WHERE run_id IN (SELECT run_id FROM orphaned) AND NOT cached
        )
    ), waiting AS (
        DELETE FROM llm_batch_calls WHERE run_id IN (SELECT run_id FROM orphaned)
    ), deleted AS (
        DELETE FROM jobs WHERE id IN (SELECT id FROM chosen) RETURNING id, tenant, kind, state, batch
    ), released AS (
        UPDATE document_files SET released_at = statement_timestamp() FROM deleted
        WHERE document_files.job = deleted.id AND released_at IS NULL
    ), {recorded}counted AS (
        UPDATE batches SET erased = erased + deleted_counts.rows
        FROM (SELECT batch, count(*) AS rows FROM deleted GROUP BY batch ORDER BY batch) AS deleted_counts
        WHERE batches.id = deleted_counts.batch
    )
    SELECT id, CASE WHEN state = 'running' THEN pg_notify('assayer_jobs', 'cancelled ' || id) END AS notified
    FROM deleted
"""
_RECORD_ERASED, _RECORD_EXPIRED = (
    f"recorded AS ({item}), "
    for item in (
        build_tombstone_insert("kind", "$3", "erased", "$4"),
        build_tombstone_insert("kind", "$1", "retention"),
    )
)
_DELETE_JOBS = _DELETE_JOBS_TEMPLATE.format(condition="tenant = $1 AND id = ANY($2)", recorded=_RECORD_ERASED)
_DELETE_SOME = _DELETE_JOBS_TEMPLATE.format(
    condition="id IN (SELECT id FROM jobs WHERE tenant = $1 LIMIT $2)", recorded=""
)
_DELETE_OLD = _DELETE_JOBS_TEMPLATE.format(
    # The condition on `created_at` follows from the one on `finished_at`, and has an index.
    condition="""id IN (
        SELECT old.id FROM tenants CROSS JOIN LATERAL (
            SELECT id FROM jobs
            WHERE tenant = tenants.id AND created_at < $1::timestamptz - retention_days * interval '1 day'
              AND finished_at < $1::timestamptz - retention_days * interval '1 day'
            LIMIT $2
        ) AS old WHERE retention_days IS NOT NULL LIMIT $2
    )""",
    recorded=_RECORD_EXPIRED,
)

# Skips locked rows: those jobs are being rerun or erased.
_DELETE_DOCUMENTS = f"""
    WITH chosen AS MATERIALIZED (
        SELECT id AS chosen FROM jobs
        WHERE finished_at IS NOT NULL AND (document IS NOT NULL OR document_file IS NOT NULL) AND finished_at < $1
        ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
    ), forgotten AS (
        UPDATE jobs SET document = NULL, document_file = NULL FROM chosen WHERE id = chosen RETURNING id, document_file
    ), released AS ({RELEASE_FILES.format(jobs="forgotten")})
    SELECT id FROM forgotten
"""

# Deletes answers that were stored during an erasure. An answer is dated by its paid request, so answers that another
# run obtained later are kept.
_DELETE_LATE_ANSWERS = """
    DELETE FROM answers WHERE key IN (
        SELECT answers.key FROM erased_runs JOIN ledger USING (run_id) JOIN answers USING (key)
        WHERE answers.created_at = ledger.at AND NOT cached LIMIT $1
    ) RETURNING key
"""
_DELETE_LATE_REPORTS = """
    DELETE FROM evaluations WHERE id IN (SELECT id FROM erased_runs JOIN evaluations ON id = run_id LIMIT $1)
    RETURNING id
"""

_DELETE_BATCHES = f"""
    WITH deleted AS (
        DELETE FROM batches WHERE NOT EXISTS (SELECT FROM jobs WHERE batch = batches.id) AND id IN (
            SELECT batches.id FROM tenants JOIN batches ON batches.tenant = tenants.id
            WHERE batches.created_at < $1::timestamptz - retention_days * interval '1 day'
              AND NOT EXISTS (SELECT FROM jobs WHERE batch = batches.id) LIMIT $2
        )
        RETURNING tenant, id
    ), recorded AS ({build_tombstone_insert("'batch'", "$1", "retention")})
    SELECT id FROM deleted
"""
_DELETE_BATCH = f"""
    WITH deleted AS (DELETE FROM batches WHERE tenant = $1 AND id = $2 RETURNING tenant, id)
    {build_tombstone_insert("'batch'", "$3", "erased", "$4")}
"""
# Tombstones would be deleted with their tenant anyway. Deleting them in chunks first keeps the last statement short.
_DELETE_SOME_TOMBSTONES = """
    DELETE FROM tombstones WHERE tenant = $1 AND id IN (SELECT id FROM tombstones WHERE tenant = $1 LIMIT $2)
    RETURNING id
"""

# Files of jobs that were submitted just before the tenant's keys were deleted.
_RELEASE_FILES = """
    UPDATE document_files SET released_at = statement_timestamp()
    WHERE released_at IS NULL AND job IN (SELECT id FROM jobs WHERE tenant = $1)
"""

# A group's members are deleted with their jobs; groups without members are deleted here.
_DELETE_GROUPS = """
    DELETE FROM reward_groups WHERE (tenant, id) IN (
        SELECT tenant, id FROM reward_groups AS reward_group
        WHERE created_at < $1::timestamptz - interval '7 days' AND NOT EXISTS (
            SELECT FROM reward_group_members AS member
            WHERE member.tenant = reward_group.tenant AND member."group" = reward_group.id
        ) LIMIT $2
    ) RETURNING id
"""
_CLOSE_BATCHES = """
    UPDATE batches SET open = false WHERE id IN (
        SELECT id FROM batches WHERE open AND opened_at < $1 ORDER BY opened_at LIMIT $2
    ) RETURNING id
"""
_DELETE_ROWS = """
    DELETE FROM {table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT $2)) AND {condition}
    RETURNING 1
"""
_WEEK_OLD_ROWS: Mapping[str, str] = {
    "erased_runs": "erased_at < $1",
    "idempotency": "created_at < $1",
    "request_rates": "full_at < $1",
    "deliveries": "state <> 'pending' AND created_at < $1",
    "mails": "state <> 'pending' AND created_at < $1",
}
"""Conditions for rows that are deleted after a week, by table. $1 is the time one week ago."""
# Rows written since the oldest stored job was accepted are kept, because erasures use the ledger to find answers, and
# unfinished jobs are charged according to it. `at` comes from a worker's clock.
_OLD_LEDGER_ROWS = """at < $1 AND at < coalesce((
    SELECT min(first.created_at) - interval '1 day' FROM tenants CROSS JOIN LATERAL (
        SELECT created_at FROM jobs WHERE tenant = tenants.id ORDER BY created_at LIMIT 1
    ) AS first
), $1)"""
_OLD_EVENTS = "at < $1 AND EXISTS (SELECT FROM jobs WHERE jobs.id = events.job AND finished_at IS NOT NULL)"


async def erase_jobs(
    connection: Connection, tenant: TenantId, jobs: Sequence[JobId], now: dt.datetime, proof: int
) -> int:
    """Delete jobs, and return how many existed. `proof` is the number of the audit log entry that records the
    deletion."""
    return len(await connection.fetch(_DELETE_JOBS, tenant, list(jobs), now, proof))


async def erase_batch(connection: Connection, tenant: TenantId, batch: BatchId, now: dt.datetime, proof: int) -> None:
    """Delete a batch that has no jobs."""
    await connection.fetch(_DELETE_BATCH, tenant, batch, now, proof)


async def delete_tenant(database: Database, log: PgAuditLog, tenant: TenantId, by: ActBy) -> bool:
    """Delete a tenant with all its data, including the content (but not the hashes) of its audit log. Return False if
    the tenant does not exist. Its keys are deleted first, so that no new data arrives. If the deletion is interrupted,
    it can simply be repeated."""
    await database.execute("DELETE FROM api_keys WHERE tenant = $1", tenant)
    for statement, chunk_rows in ((_DELETE_SOME, _JOBS_PER_STATEMENT), (_DELETE_SOME_TOMBSTONES, _ROWS_PER_STATEMENT)):
        await database.execute_in_chunks(statement, tenant, chunk_rows)

    async def delete_rest(connection: Connection) -> bool:
        async with connection.transaction():
            await connection.fetch(_RELEASE_FILES, tenant)
            deleted = await connection.fetchval("DELETE FROM tenants WHERE id = $1 RETURNING true", tenant)
            if deleted:
                await log.erase_within(connection, tenant, by, tenant, None)
            return bool(deleted)

    return await database.run(delete_rest)


async def delete_documents(database: Database, ended_before: dt.datetime) -> int:
    """Delete the documents of jobs that ended before `ended_before`, and return their number. Files are only marked for
    deletion."""
    return await database.execute_in_chunks(_DELETE_DOCUMENTS, ended_before, _JOBS_PER_STATEMENT)


async def purge(database: Database, now: dt.datetime, settings: RetentionSettings) -> int:
    """Delete all data whose retention period has ended. Return the number of deleted jobs.

    Data is deleted in chunks, each in its own transaction, so that locks are short and a backlog does not cause a
    statement timeout."""
    deleted = await database.execute_in_chunks(_DELETE_OLD, now, _JOBS_PER_STATEMENT)
    for statement in (_DELETE_LATE_ANSWERS, _DELETE_LATE_REPORTS):
        await database.execute_in_chunks(statement, _ROWS_PER_STATEMENT)
    for statement in (_DELETE_BATCHES, _DELETE_GROUPS):
        await database.execute_in_chunks(statement, now, _ROWS_PER_STATEMENT)
    await database.execute_in_chunks(_CLOSE_BATCHES, now - _DAY, _ROWS_PER_STATEMENT)
    limits = [(table, condition, now - _WEEK) for table, condition in _WEEK_OLD_ROWS.items()]
    for table, condition, months in (
        ("ledger", _OLD_LEDGER_ROWS, settings.ledger_months),
        ("events", _OLD_EVENTS, settings.event_months),
    ):
        if months is not None:
            limits.append((table, condition, _subtract_months(now, months)))
    for table, condition, before in limits:
        await database.execute_in_chunks(
            _DELETE_ROWS.format(table=table, condition=condition), before, _ROWS_PER_STATEMENT
        )
    return deleted


def _subtract_months(now: dt.datetime, months: int) -> dt.datetime:
    """Return the start of the month `months` months before the current one."""
    utc = now.astimezone(dt.UTC)
    years, month = divmod(utc.month - 1 - months, 12)
    return dt.datetime(utc.year + years, month + 1, 1, tzinfo=dt.UTC)
