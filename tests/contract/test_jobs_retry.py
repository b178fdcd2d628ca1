"""Jobs that ended without a result go back to the queue when their tenant asks, and then have one verdict, the last."""

import pytest

from orchestrator.jobs.models import BatchId, JobVerdict, Problem
from orchestrator.jobs.submissions import NewBatch, QueueFull
from orchestrator.store import Database, PgEvents
from tests.contract.store_jobs import ACME, DONE, OTHER, Queue, build_job, create_tenant

BATCH = BatchId("ba_1")
FAILED = JobVerdict(state="failed", problem=Problem(type="x", title="It failed", detail="Because."), cost_usd=0.25)


@pytest.fixture
async def queue(database: Database) -> Queue:
    await create_tenant(database, max_queued=5)
    return Queue(database)


async def test_retried_job_is_queued_again_and_ends_in_a_single_verdict(queue: Queue, database: Database) -> None:
    new_job = build_job("ev_a")
    await queue.add(new_job)
    await queue.leases.finish(await queue.acquire_lease(), FAILED)
    retried = await queue.jobs.retry(ACME, new_job.id)
    assert (retried.jobs, retried.unreadable) == (1, 0)
    waiting = await queue.get(new_job.id)
    assert (waiting.state, waiting.problem, waiting.finished_at) == ("queued", None, None)

    again = await queue.acquire_lease()
    assert (again.job, again.attempt) == (new_job.id, 2)
    await queue.leases.finish(again, DONE)
    finished_job = await queue.get(new_job.id)
    assert finished_job.state == "succeeded"
    events = await PgEvents(database).list_after(new_job.id, 0)
    assert [event.kind for event in events] == ["queued", "started", "retried", "started", "succeeded"]
    assert events[2].data["reason"] == "it failed: It failed"


async def test_succeeded_running_and_queued_jobs_are_not_retried(queue: Queue) -> None:
    new_job, running, waiting = build_job("ev_a"), build_job("ev_b"), build_job("ev_c")
    await queue.add(new_job)
    await queue.leases.finish(await queue.acquire_lease(), DONE)
    await queue.add(running)
    await queue.acquire_lease()
    await queue.add(waiting)
    for item in (new_job, running, waiting):
        assert (await queue.jobs.retry(ACME, item.id)).jobs == 0


async def test_unsuccessful_batch_rows_are_queued_again_and_completion_is_reannounced(queue: Queue) -> None:
    rows = [build_job(row=row) for row in range(1, 5)]
    await queue.jobs.add(ACME, rows, NewBatch(id=BATCH, name="b", rows=4))
    first, second, third = await queue.acquire_leases(3)
    await queue.leases.finish(first, DONE)
    await queue.leases.finish(second, FAILED)
    await queue.leases.finish(third, FAILED)
    await queue.jobs.cancel_batch(ACME, BATCH)
    await queue.database.execute("UPDATE batches SET told = true")
    assert (await queue.jobs.retry_batch(ACME, BATCH)).jobs == 3
    status = await queue.get_batch(BATCH)
    assert (status.counts, status.finished_at, status.known_cost_usd) == ({"succeeded": 1, "queued": 3}, None, 0.5)
    assert not await queue.database.fetch("SELECT FROM batches WHERE told")
    for lease in await queue.acquire_leases(3):
        await queue.leases.finish(lease, DONE)
    status = await queue.get_batch(BATCH)
    assert status.counts == {"succeeded": 4}
    assert status.finished_at is not None


async def test_earlier_spending_counts_once_against_the_monthly_budget(queue: Queue) -> None:
    new_job = build_job("ev_a")
    await queue.add(new_job)
    await queue.leases.finish(await queue.acquire_lease(), FAILED)
    await queue.jobs.retry(ACME, new_job.id)
    await queue.leases.finish(await queue.acquire_lease(), DONE)
    (spent,) = await queue.database.fetch("SELECT sum(usd) AS usd FROM spending WHERE tenant = $1", ACME)
    assert spent["usd"] == DONE.cost_usd


async def test_full_queue_or_foreign_tenant_retries_nothing(queue: Queue) -> None:
    await create_tenant(queue.database, OTHER)
    await queue.jobs.add(ACME, [build_job(row=row) for row in range(1, 5)], NewBatch(id=BATCH, name="b", rows=4))
    await queue.jobs.cancel_batch(ACME, BATCH)
    await queue.add(build_job(), build_job())
    with pytest.raises(QueueFull):
        await queue.jobs.retry_batch(ACME, BATCH)
    assert (await queue.jobs.retry_batch(OTHER, BATCH)).jobs == 0
