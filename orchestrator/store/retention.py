"""Deletion: of jobs past their retention, of single jobs, of tenants, with everything that belongs to them."""

import datetime as dt
from collections.abc import Sequence

from orchestrator.access.audit_chain import Actor
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.job_sql import FORGET_DOCUMENTS
from orchestrator.store.tombstones import burial

__all__ = ["delete_tenant", "erase_batch", "erase_jobs", "forget_documents", "purge"]

_AT_ONCE = 200
_STONES_AT_ONCE = 10_000
_DAY = dt.timedelta(days=1)
"""An open batch is closed after this long."""
_WEEK = dt.timedelta(days=7)

# With a job go all of its runs that no other job shares, with their reports, the answers obtained in them, also what a
# worker has yet to store, and their calls that wait for a batch. The ledger stays: it is the operator's accounting.
# Papers are public.
_DELETE = """
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
    ), given AS (
        DELETE FROM answers WHERE key IN (
            SELECT key FROM ledger WHERE run_id IN (SELECT run_id FROM orphaned) AND NOT cached
        )
    ), waiting AS (
        DELETE FROM llm_batch_calls WHERE run_id IN (SELECT run_id FROM orphaned)
    ), gone AS (
        DELETE FROM jobs WHERE id IN (SELECT id FROM chosen) RETURNING id, tenant, kind, state, batch
    ), {buried}counted AS (
        UPDATE batches SET erased = erased + lost.rows
        FROM (SELECT batch, count(*) AS rows FROM gone GROUP BY batch ORDER BY batch) AS lost
        WHERE batches.id = lost.batch
    )
    SELECT id, CASE WHEN state = 'running' THEN pg_notify('assayer_jobs', 'cancelled ' || id) END AS told FROM gone
"""
_ERASED, _EXPIRED = (
    f"buried AS ({one}), "
    for one in (burial("gone", "kind", "$3", "erased", "$4"), burial("gone", "kind", "$1", "retention"))
)
_DELETE_JOBS = _DELETE.format(condition="tenant = $1 AND id = ANY($2)", buried=_ERASED)
_DELETE_SOME = _DELETE.format(condition="id IN (SELECT id FROM jobs WHERE tenant = $1 LIMIT $2)", buried="")
_DELETE_OLD = _DELETE.format(
    condition="""id IN (
        SELECT jobs.id FROM tenants JOIN jobs ON jobs.tenant = tenants.id
        WHERE finished_at < $1::timestamptz - retention_days * interval '1 day' LIMIT $2
    )""",
    buried=_EXPIRED,
)

# A job whose row is locked is just being run again, or erased.
_FORGET_DOCUMENTS = FORGET_DOCUMENTS.format(
    condition="finished_at < $1 OR EXISTS (SELECT FROM sign_offs WHERE sign_offs.batch = jobs.batch)",
    most="$2",
    locked="SKIP LOCKED",
)

# Stored at the very moment of the erasure. An answer has the time of the call that it was paid with: what another run
# was answered since, stays.
_DELETE_LATE_ANSWERS = """
    DELETE FROM answers USING ledger JOIN erased_runs USING (run_id)
    WHERE answers.key = ledger.key AND answers.created_at = ledger.at AND NOT cached
"""
_DELETE_LATE_REPORTS = "DELETE FROM evaluations WHERE id IN (SELECT run_id FROM erased_runs)"

_DELETE_BATCHES = f"""
    WITH gone AS (
        DELETE FROM batches USING tenants
        WHERE tenants.id = tenant AND batches.created_at < $1::timestamptz - retention_days * interval '1 day'
          AND NOT EXISTS (SELECT FROM jobs WHERE batch = batches.id)
        RETURNING tenant, batches.id
    ) {burial("gone", "'batch'", "$1", "retention")}
"""  # noqa: S608 - put together from constants
_DELETE_BATCH = f"""
    WITH gone AS (DELETE FROM batches WHERE tenant = $1 AND id = $2 RETURNING tenant, id)
    {burial("gone", "'batch'", "$3", "erased", "$4")}
"""  # noqa: S608 - put together from constants
# A tenant takes its tombstones along; many are gone before, so that the last statement is short.
_FORGET_SOME = """
    DELETE FROM tombstones WHERE tenant = $1 AND id IN (SELECT id FROM tombstones WHERE tenant = $1 LIMIT $2)
    RETURNING id
"""

# Its members go with their jobs; a group of which none is left is forgotten.
_DELETE_GROUPS = """
    DELETE FROM reward_groups AS of WHERE created_at < $1::timestamptz - interval '7 days' AND NOT EXISTS (
        SELECT FROM reward_group_members AS member WHERE member.tenant = of.tenant AND member."group" = of.id
    )
"""


async def erase_jobs(
    connection: Connection, tenant: TenantId, jobs: Sequence[JobId], now: dt.datetime, proof: int
) -> int:
    """How many there were. `proof`: number of the entry of the audit log that says so."""
    return len(await connection.fetch(_DELETE_JOBS, tenant, list(jobs), now, proof))


async def erase_batch(connection: Connection, tenant: TenantId, batch: BatchId, now: dt.datetime, proof: int) -> None:
    """One without jobs."""
    await connection.fetch(_DELETE_BATCH, tenant, batch, now, proof)


async def delete_tenant(database: Database, log: PgAuditLog, tenant: TenantId, actor: Actor, now: dt.datetime) -> bool:
    """With everything that belongs to it, and the words of its audit log, of which hashes stay. Its keys go first, so
    that nothing new comes in meanwhile. Should this end half way, it is there still, and can be deleted again."""
    await database.execute("DELETE FROM api_keys WHERE tenant = $1", tenant)
    for statement, at_once in ((_DELETE_SOME, _AT_ONCE), (_FORGET_SOME, _STONES_AT_ONCE)):
        while await database.fetch(statement, tenant, at_once):
            pass

    async def work(connection: Connection) -> bool:
        async with connection.transaction():
            gone = await connection.fetchval("DELETE FROM tenants WHERE id = $1 RETURNING true", tenant)
            if gone:
                await log.erase_within(connection, tenant, actor, tenant, None, now)
            return bool(gone)

    return await database.run(work)


async def forget_documents(database: Database, before: dt.datetime) -> int:
    """Documents of jobs that ended before then, or whose call is signed off; how many."""
    forgotten = 0
    while some := await database.fetch(_FORGET_DOCUMENTS, before, _AT_ONCE):
        forgotten += len(some)
    return forgotten


async def purge(database: Database, now: dt.datetime) -> int:
    """A few at a time, so that locks are short."""
    deleted = 0
    while some := await database.fetch(_DELETE_OLD, now, _AT_ONCE):
        deleted += len(some)
    await database.execute(_DELETE_LATE_ANSWERS)
    await database.execute(_DELETE_LATE_REPORTS)
    await database.execute("DELETE FROM erased_runs WHERE erased_at < $1", now - _WEEK)
    await database.execute(_DELETE_BATCHES, now)
    await database.execute(_DELETE_GROUPS, now)
    await database.execute("UPDATE batches SET open = false WHERE open AND created_at < $1", now - _DAY)
    await database.execute("DELETE FROM idempotency WHERE created_at < $1", now - _WEEK)
    for table in ("key_rates", "tenant_rates"):
        await database.execute(f"DELETE FROM {table} WHERE full_at < $1", now - _WEEK)  # noqa: S608 - of constants
    for table in ("deliveries", "mails"):
        query = f"DELETE FROM {table} WHERE state <> 'pending' AND created_at < $1"  # noqa: S608 - of constants
        await database.execute(query, now - _WEEK)
    return deleted
