"""Documents of jobs that have ended: there for another run and for readers, gone with their job or after a limit. In
files and in rows alike."""

import asyncio
import datetime as dt
from pathlib import Path

import pytest

from cluster.submitted_documents import SubmittedDocuments
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, JobId, JobVerdict, Lease, Problem, TenantPlan
from orchestrator.jobs.submissions import NewBatch
from orchestrator.settings import QueueSettings
from orchestrator.store import Database
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection
from orchestrator.store.decisions import AllowedGaps, PgDecisions
from orchestrator.store.documents import PgDocuments
from orchestrator.store.erasure import PgErasures
from tests.contract.store_jobs import (
    ACME,
    DONE,
    NOW,
    OPERATOR,
    PDF,
    Queue,
    build_document_job,
    create_tenant,
    read_stored_files,
)
from tests.polling import wait_until_async

CALL = BatchId("bt_1")
A = JobId("a")
FAILED = JobVerdict(state="failed", problem=Problem(type="x", title="It failed", detail="Because."), cost_usd=0.25)
DAY = dt.timedelta(days=1)


@pytest.fixture(params=["files", "rows"])
def documents(request: pytest.FixtureRequest, database: Database, tmp_path: Path) -> PgDocuments | None:
    return PgDocuments(database, SubmittedDocuments(str(tmp_path))) if request.param == "files" else None


@pytest.fixture
async def queue(database: Database, documents: PgDocuments | None) -> Queue:
    await create_tenant(database)
    return Queue(database, QueueSettings(max_failures=1), documents)


async def count_documents(queue: Queue, folder: Path) -> int:
    """Documents that lie anywhere once what is released has been swept."""
    if queue.documents is not None:
        await queue.documents.delete_released()
    document_rows = await queue.database.fetch("SELECT FROM document_files")
    files = read_stored_files(folder)
    assert len(document_rows) == len(files)
    assert set(files) <= {PDF}
    rows = await queue.database.fetch("SELECT FROM jobs WHERE document = $1", PDF)
    return len(files) + len(rows)


async def read_document(queue: Queue, lease: Lease) -> bytes | None:
    if queue.documents is None:
        return lease.document
    assert lease.document_file is not None
    return await queue.documents.read(lease.document_file)


async def end(queue: Queue, ending: str) -> None:
    """The only job there is."""
    if ending == "cancelled":
        await queue.jobs.cancel(ACME, A)
    elif ending == "failed":
        assert await queue.leases.finish(await queue.acquire_lease(), FAILED)
    else:
        await queue.tenants.update(ACME, TenantPlan(name="acme", monthly_usd=1.0))
        assert await queue.acquire_leases() == []
        await queue.tenants.update(ACME, TenantPlan(name="acme"))
    job_row = await queue.get(A)
    assert job_row.state == ("failed" if ending == "too dear" else ending)


@pytest.mark.parametrize("ending", ["cancelled", "failed", "too dear"])
async def test_document_is_kept_for_a_retry_and_after_it_succeeds(ending: str, queue: Queue, tmp_path: Path) -> None:
    await queue.add(build_document_job(max_usd=2.0))
    await end(queue, ending)
    assert await count_documents(queue, tmp_path) == 1
    assert (await queue.jobs.preview_retry(ACME, job=A))[:2] == (1, 0)

    assert await queue.jobs.retry(ACME, A) == (1, 0)
    again = await queue.acquire_lease()

    assert await read_document(queue, again) == PDF
    assert await queue.leases.finish(again, DONE)
    assert await count_documents(queue, tmp_path) == 1
    assert await queue.jobs.read_original(ACME, A) == PDF


@pytest.mark.parametrize("ending", ["cancelled", "failed", "too dear"])
async def test_document_is_deleted_at_job_end_without_retention_period(
    ending: str, database: Database, documents: PgDocuments | None, tmp_path: Path
) -> None:
    await create_tenant(database)
    queue = Queue(database, QueueSettings(max_failures=1), documents, document_days=0)
    await queue.add(build_document_job(max_usd=2.0))
    await end(queue, ending)

    assert await count_documents(queue, tmp_path) == 0
    assert await queue.jobs.preview_retry(ACME, job=A) == (0, 1, None)
    assert await queue.jobs.retry(ACME, A) == (0, 1)


async def test_expired_document_is_deleted_and_its_job_counted_as_unreadable(queue: Queue, tmp_path: Path) -> None:
    await queue.jobs.add(
        ACME, [build_document_job("a", 1), build_document_job("b", 2)], NewBatch(id=CALL, name="c", rows=2)
    )
    await queue.jobs.cancel_batch(ACME, CALL)
    await queue.database.execute("UPDATE jobs SET finished_at = finished_at - interval '31 days' WHERE id = 'a'")

    assert await queue.jobs.delete_expired_documents(dt.datetime.now(dt.UTC)) == 1

    assert await count_documents(queue, tmp_path) == 1
    assert (await queue.jobs.preview_retry(ACME, batch=CALL))[:2] == (1, 1)
    assert await queue.jobs.retry_batch(ACME, CALL) == (1, 1)
    # What waits again has no end: its time begins anew with the next one.
    assert await queue.jobs.delete_expired_documents(dt.datetime.now(dt.UTC) + 31 * DAY) == 0
    assert await read_document(queue, await queue.acquire_lease()) == PDF


async def test_retry_deadline_follows_first_document_and_job_retention(queue: Queue) -> None:
    await queue.jobs.add(
        ACME, [build_document_job("a", 1), build_document_job("b", 2)], NewBatch(id=CALL, name="c", rows=2)
    )
    await queue.jobs.cancel_batch(ACME, CALL)
    await queue.database.execute("UPDATE jobs SET finished_at = $1 WHERE id = 'a'", NOW - DAY)

    assert await queue.jobs.preview_retry(ACME, batch=CALL) == (2, 0, NOW + 29 * DAY)
    await queue.tenants.update(ACME, TenantPlan(name="acme", retention_days=7))
    assert await queue.jobs.preview_retry(ACME, batch=CALL) == (2, 0, NOW + 6 * DAY)


async def test_erasing_an_ended_job_deletes_its_document(queue: Queue, tmp_path: Path) -> None:
    await queue.add(build_document_job())
    await queue.jobs.cancel(ACME, A)

    assert await queue.delete(A)

    assert await count_documents(queue, tmp_path) == 0
    assert await PgErasures(queue.database, PgAuditLog(queue.database)).find_remaining(ACME, [A]) == []


async def test_document_is_deleted_with_its_job_or_tenant(queue: Queue, tmp_path: Path) -> None:
    await queue.tenants.update(ACME, TenantPlan(name="acme", retention_days=7))
    await queue.add(build_document_job("a"), build_document_job("b"))
    await queue.jobs.cancel(ACME, A)
    await queue.jobs.cancel(ACME, JobId("b"))
    await queue.database.execute("""
        UPDATE jobs SET created_at = created_at - interval '8 days', finished_at = finished_at - interval '8 days'
        WHERE id = 'a'
    """)

    assert await queue.jobs.purge(dt.datetime.now(dt.UTC)) == 1
    assert await count_documents(queue, tmp_path) == 1

    assert await queue.delete_tenant()
    assert await count_documents(queue, tmp_path) == 0


async def test_documents_are_kept_without_limit_and_after_sign_off(
    database: Database, documents: PgDocuments | None, tmp_path: Path
) -> None:
    await create_tenant(database)
    queue = Queue(database, QueueSettings(max_failures=1), documents, document_days=None)
    rows = [build_document_job("a", 1), build_document_job("b", 2)]
    await queue.jobs.add(ACME, rows, NewBatch(id=CALL, name="c", rows=2))
    first, second = await queue.acquire_leases(2)
    await queue.leases.finish(first, FAILED)
    decisions = PgDecisions(queue.database, PgAuditLog(queue.database))

    assert await decisions.sign_off(ACME, CALL, "", AllowedGaps(unfinished=True), ActBy(OPERATOR, NOW))
    await queue.leases.finish(second, DONE)

    assert await queue.jobs.delete_expired_documents(dt.datetime.now(dt.UTC) + 10_000 * DAY) == 0
    assert await count_documents(queue, tmp_path) == 2
    assert await queue.jobs.preview_retry(ACME, batch=CALL) == (1, 0, None)


async def is_waiting_for_lock(database: Database) -> bool:
    query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool(await database.fetch(query))


async def test_retry_after_concurrent_document_deletion_counts_job_as_unreadable(queue: Queue, tmp_path: Path) -> None:
    await queue.add(build_document_job())
    await queue.jobs.cancel(ACME, A)

    async def forget(connection: Connection) -> "asyncio.Task[tuple[int, int]]":
        async with connection.transaction():
            await connection.execute("UPDATE jobs SET document = NULL, document_file = NULL")
            await connection.execute("UPDATE document_files SET released_at = now()")
            retrying = asyncio.create_task(queue.jobs.retry(ACME, A))
            await wait_until_async(lambda: is_waiting_for_lock(queue.database))
            return retrying

    retrying = await queue.database.run(forget)

    assert await retrying == (0, 1)
    assert await count_documents(queue, tmp_path) == 0


async def test_a_document_is_not_forgotten_while_its_job_is_run_again(queue: Queue, tmp_path: Path) -> None:
    await queue.add(build_document_job())
    await queue.jobs.cancel(ACME, A)

    async def retry(connection: Connection) -> int:
        async with connection.transaction():
            await connection.execute("SELECT FROM jobs FOR UPDATE")
            return await queue.jobs.delete_expired_documents(dt.datetime.now(dt.UTC) + 31 * DAY)

    assert await queue.database.run(retry) == 0
    assert await queue.jobs.retry(ACME, A) == (1, 0)
    assert await count_documents(queue, tmp_path) == 1


async def test_concurrent_retries_of_a_call_start_each_row_once(queue: Queue) -> None:
    await queue.jobs.add(
        ACME, [build_document_job(f"r{n}", n) for n in range(1, 9)], NewBatch(id=CALL, name="c", rows=8)
    )
    await queue.jobs.cancel_batch(ACME, CALL)

    both = await asyncio.gather(*(queue.jobs.retry_batch(ACME, CALL) for _ in range(2)))

    assert sorted(both) == [(0, 0), (8, 0)]
    leases = await queue.acquire_leases(9)
    assert len(leases) == 8
    assert [await read_document(queue, lease) for lease in leases] == [PDF] * 8


async def test_erasure_concurrent_with_retries_deletes_all_documents(queue: Queue, tmp_path: Path) -> None:
    await queue.jobs.add(
        ACME, [build_document_job(f"r{n}", n) for n in range(1, 9)], NewBatch(id=CALL, name="c", rows=8)
    )
    await queue.jobs.cancel_batch(ACME, CALL)
    erasures = PgErasures(queue.database, PgAuditLog(queue.database), queue.documents)
    jobs = [JobId(f"r{n}") for n in range(1, 9)]

    await asyncio.gather(
        erasures.erase(ACME, jobs, ActBy(OPERATOR, NOW), batch=CALL),
        *(queue.jobs.retry_batch(ACME, CALL) for _ in range(3)),
    )

    assert await count_documents(queue, tmp_path) == 0
    assert await erasures.find_remaining(ACME, [*jobs, CALL]) == []


@pytest.mark.parametrize("documents", ["files"], indirect=True)
async def test_kept_document_is_not_treated_as_abandoned(queue: Queue, tmp_path: Path) -> None:
    await queue.add(build_document_job())
    await queue.jobs.cancel(ACME, A)
    assert queue.documents is not None

    await queue.documents.release_abandoned(dt.datetime.now(dt.UTC) + DAY, 900)

    assert await count_documents(queue, tmp_path) == 1
    assert await queue.jobs.retry(ACME, A) == (1, 0)
