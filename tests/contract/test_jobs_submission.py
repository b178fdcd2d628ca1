"""Jobs into the queue and out of sight: idempotency, limits, lists, isolation, deletion."""

import datetime as dt

import pytest

from assayer.errors import InputError
from assayer.models import EvaluationId
from assayer_client.batches import RowError
from orchestrator.jobs.models import BatchId, JobState, JobVerdict, TenantId, TenantPlan
from orchestrator.jobs.submissions import NewBatch, QueueFull
from orchestrator.store import (
    Database,
    PgAnswerCache,
    PgEvents,
    PgJobs,
    PgReports,
    retention,
)
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse
from tests.contract.store_jobs import ACME, DONE, OTHER, RICH, Losing, Queue, build_job, create_tenant
from tests.contract.store_records import answer, build_answered_row, report

BATCH = BatchId("ba_1")
REJECTED = (RowError(row=2, source="ideas.csv:2", field="text", detail="It is empty."),)


def build_idempotency_record(
    key: str = "key", request: bytes = b"a" * 32, body: bytes = b'{"id": "a"}'
) -> IdempotencyRecord:
    return IdempotencyRecord(key, request, 202, body, "/v1/evaluations/a")


@pytest.fixture
async def queue(database: Database) -> Queue:
    await create_tenant(database)
    await create_tenant(database, OTHER)
    return Queue(database)


async def count_states(queue: Queue, batch: BatchId = BATCH) -> dict[JobState, int]:
    return (await queue.get_batch(batch)).counts


@pytest.mark.parametrize("stored_record", [None, build_idempotency_record()])
async def test_submission_is_stored_once_after_lost_response(
    queue: Queue, stored_record: IdempotencyRecord | None
) -> None:
    """The second try of a request may be told what the first would have been."""
    added = await PgJobs(Losing(queue.database)).add(ACME, [build_job("a"), build_job("b")], record=stored_record)

    assert added == (
        None
        if stored_record is None
        else RecordedResponse(stored_record.status, stored_record.body, stored_record.location)
    )
    assert [item.id for item in await queue.jobs.list(ACME)] == ["b", "a"]
    assert len(await PgEvents(queue.database).list_after(build_job("a").id, 0)) == 1


async def test_full_queue_rejects_submission_and_forgets_idempotency_key(queue: Queue) -> None:
    await queue.tenants.update(ACME, TenantPlan(name="acme", max_queued=3))
    await queue.add(build_job("a"), build_job("b"))

    with pytest.raises(QueueFull) as caught:
        await queue.jobs.add(ACME, [build_job(), build_job()], record=build_idempotency_record())

    assert (caught.value.queued, caught.value.added, caught.value.limit) == (2, 2, 3)
    assert len(await queue.jobs.list(ACME)) == 2
    assert await queue.jobs.add(ACME, [build_job()], record=build_idempotency_record()) is None


async def test_submission_for_an_unknown_tenant_is_rejected(queue: Queue) -> None:
    with pytest.raises(InputError, match="The tenant nobody does not exist"):
        await queue.jobs.add(TenantId("nobody"), [build_job()])


async def test_batch_of_many_rows_keeps_their_order_and_counts_states(queue: Queue) -> None:
    rows = [build_job(f"r{number:04}", row=number) for number in (1, *range(3, 1203))]
    await queue.jobs.add(ACME, rows, NewBatch(id=BATCH, name="ideas.csv", rows=1202, rejected=REJECTED))

    leases = await queue.acquire_leases(3)
    await queue.leases.finish(leases[0], DONE)

    assert [lease.job for lease in leases] == ["r0001", "r0003", "r0004"]
    batch = await queue.get_batch(BATCH)
    assert batch.counts == {"succeeded": 1, "running": 2, "queued": 1198}
    assert (batch.name, batch.rows, batch.rejected, batch.cost_usd) == ("ideas.csv", 1202, REJECTED, 0.5)
    assert batch.finished_at is None


async def test_cancelled_batch_is_finished_and_keeps_completed_jobs(queue: Queue) -> None:
    await queue.jobs.add(ACME, [build_job(row=row) for row in range(1, 6)], NewBatch(id=BATCH, name="b", rows=5))
    finished_lease, running = await queue.acquire_leases(2)
    await queue.leases.finish(finished_lease, DONE)

    assert await queue.jobs.cancel_batch(ACME, BATCH) == 4
    assert await queue.jobs.cancel_batch(ACME, BATCH) == 0

    assert await count_states(queue) == {"succeeded": 1, "cancelled": 4}
    assert not await queue.leases.finish(running, DONE)
    batch = await queue.get_batch(BATCH)
    assert batch.finished_at is not None


async def test_batch_reports_follow_row_order_with_gaps_for_missing_reports(queue: Queue) -> None:
    evaluations = PgReports(queue.database)
    rows = [build_job(f"r{row:03}", row=row) for row in range(1, 121)]
    await queue.jobs.add(ACME, rows[::-1], NewBatch(id=BATCH, name="b", rows=120))
    for lease in await queue.acquire_leases(2):
        run = EvaluationId(f"ev_{lease.job}")
        await evaluations.store(report(run))
        await queue.leases.record_run(lease, run, {})
        await queue.leases.finish(lease, JobVerdict(state="succeeded", run_id=run))

    batch_rows = [row async for row in queue.jobs.iterate_batch_rows(ACME, BATCH)]

    assert [row.job.row for row in batch_rows] == list(range(1, 121))
    assert [row.job.row for row in batch_rows if row.report is not None] == [119, 120]
    written = report(EvaluationId("ev_r120"))
    assert batch_rows[-1].report == written.model_copy(
        update={"idea": written.idea.model_copy(update={"source": batch_rows[-1].source})}
    )
    assert await queue.jobs.get_report(ACME, batch_rows[-1].job.id) == batch_rows[-1].report


async def test_reused_job_id_of_another_tenant_changes_nothing(queue: Queue) -> None:
    await queue.add(build_job("a"))

    await queue.add(build_job("a"), tenant=OTHER)

    assert await queue.jobs.get(OTHER, build_job("a").id) is None
    assert len(await queue.jobs.list(ACME)) == 1


async def create_referred_run(queue: Queue, name: str, *jobs: str, owner: TenantId = ACME) -> EvaluationId:
    """A report to which these jobs refer, with one answer and one paper."""
    run = EvaluationId(name)
    await PgReports(queue.database).store(report(run))
    await PgAnswerCache(queue.database).record(build_answered_row(f"key_{name}", name), answer(f"key_{name}"))
    for item in jobs:
        await queue.add(build_job(item), tenant=owner)
        lease = await queue.acquire_lease()
        await queue.leases.record_run(lease, run, {})
        await queue.leases.finish(lease, JobVerdict(state="succeeded", run_id=run, cost_usd=1.0))
    return run


async def test_deleted_jobs_still_count_against_the_month(queue: Queue, database: Database) -> None:
    await create_tenant(database, RICH, monthly_usd=2.0)
    await create_referred_run(queue, "run", "a", owner=RICH)
    await queue.delete(build_job("a").id, RICH)
    await queue.add(build_job("b", max_usd=1.5), tenant=RICH)

    assert await queue.acquire_leases() == []
    assert "1.00 USD is spent" in (await queue.jobs.explain_waiting(RICH, build_job("b").id) or "")


async def test_deleting_a_running_job_cancels_it(queue: Queue) -> None:
    await queue.add(build_job("a"))
    lease = await queue.acquire_lease()

    assert await queue.delete(lease.job)

    assert await queue.leases.renew([lease.token]) == set()
    assert not await queue.leases.finish(lease, DONE)


async def test_purge_works_off_a_backlog_in_chunks(
    queue: Queue, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_ROWS_PER_STATEMENT", 3)
    await database.execute("""
        INSERT INTO idempotency (tenant, key, request, status, body, location, created_at)
        SELECT 'acme', n::text, '', 202, '', '', now() - n * interval '1 day' FROM generate_series(1, 20) AS n
    """)
    await database.execute("""
        INSERT INTO batches (id, tenant, name, rows, open, opened_at)
        SELECT 'bt_' || n, 'acme', '', 0, true, now() - n * interval '1 hour' FROM generate_series(1, 40) AS n
    """)
    await database.execute(
        "INSERT INTO erased_runs SELECT n::text, now() - n * interval '1 day' FROM generate_series(1, 20) AS n"
    )

    await queue.jobs.purge(dt.datetime.now(dt.UTC))

    assert len(await database.fetch("SELECT FROM idempotency")) == 6
    assert len(await database.fetch("SELECT FROM erased_runs")) == 6
    assert len(await database.fetch("SELECT FROM batches WHERE open")) == 23


async def test_purge_deletes_data_past_the_retention_period(queue: Queue, database: Database) -> None:
    await queue.tenants.update(ACME, TenantPlan(name="acme", retention_days=30))
    await create_referred_run(queue, "old", "a")
    await create_referred_run(queue, "new", "b")
    await create_referred_run(queue, "others", "c", owner=OTHER)
    await queue.jobs.add(ACME, [], NewBatch(id=BATCH, name="empty", rows=0), build_idempotency_record())
    now = dt.datetime.now(dt.UTC)
    long_ago = now - dt.timedelta(days=31)
    await database.execute("UPDATE jobs SET created_at = $1, finished_at = $1 WHERE id <> 'b'", long_ago)
    await database.execute("UPDATE batches SET created_at = $1", long_ago)
    await database.execute("UPDATE idempotency SET created_at = $1", now - dt.timedelta(days=8))

    assert await queue.jobs.purge(now) == 1

    assert [item.id for item in await queue.jobs.list(ACME)] == ["b"]
    assert [item.id for item in await queue.jobs.list(OTHER)] == ["c"]
    assert await PgReports(database).get(EvaluationId("old")) is None
    assert await queue.jobs.get_batch(ACME, BATCH) is None
    assert await queue.jobs.add(ACME, [build_job("d")], record=build_idempotency_record(request=b"other")) is None


async def test_deleting_a_tenant_removes_all_its_data(queue: Queue, database: Database) -> None:
    run = await create_referred_run(queue, "run", "a", "b")
    other_run = await create_referred_run(queue, "theirs", "c", owner=OTHER)
    await queue.jobs.add(
        ACME, [build_job("q", row=1)], NewBatch(id=BATCH, name="b", rows=1), build_idempotency_record()
    )

    assert await queue.delete_tenant()
    assert not await queue.delete_tenant()

    assert await queue.tenants.get(ACME) is None
    remaining_counts = await database.fetch_one(
        "SELECT (SELECT count(*) FROM jobs) AS jobs, (SELECT count(*) FROM batches) AS batches, "
        "(SELECT count(*) FROM idempotency) AS keys, (SELECT count(DISTINCT job) FROM events) AS told"
    )
    assert dict(remaining_counts or {}) == {"jobs": 1, "batches": 0, "keys": 0, "told": 1}
    assert await PgReports(database).get(run) is None
    assert await PgReports(database).get(other_run) is not None
