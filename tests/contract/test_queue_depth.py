"""Queue depth as seen by evaluator scaling: the jobs that could start now."""

from orchestrator.store import Database
from orchestrator.store.queue_depth import PgQueueDepth, QueueDepth
from tests.contract.store_jobs import ACME, OTHER, Queue, build_job, create_tenant


async def test_empty_queue_has_zero_depth(queue: Queue) -> None:
    assert await PgQueueDepth(queue.database).measure() == QueueDepth()


async def test_waiting_jobs_are_counted_by_priority_with_oldest_wait(queue: Queue) -> None:
    await create_tenant(queue.database, OTHER)
    await queue.add(build_job(), build_job(), build_job("now", "interactive"))
    await queue.add(build_job(), tenant=OTHER)
    await queue.database.execute(
        "UPDATE jobs SET ready_at = ready_at - interval '1 minute' WHERE tenant = $1 AND priority = 1", OTHER
    )

    depth = await PgQueueDepth(queue.database).measure()

    assert (depth.interactive.jobs, depth.batch.jobs) == (1, 3)
    assert 0 <= depth.interactive.oldest_seconds < 60 <= depth.batch.oldest_seconds


async def test_running_and_delayed_jobs_are_not_counted(queue: Queue) -> None:
    await queue.add(build_job(), build_job(), build_job())
    await queue.acquire_leases()
    await queue.leases.give_back(await queue.acquire_lease(), "Later.", attempt_failed=False, after_seconds=600.0)

    assert (await PgQueueDepth(queue.database).measure()).batch.jobs == 1


async def test_jobs_blocked_by_tenant_limits_are_not_counted(database: Database) -> None:
    await create_tenant(database, ACME, max_running=2)
    await create_tenant(database, OTHER, monthly_usd=1.0)
    queue = Queue(database)
    await queue.add(*(build_job() for _ in range(5)))
    await queue.add(build_job(max_usd=1.0), build_job(max_usd=1.0), tenant=OTHER)
    await queue.acquire_leases(free=2)

    depth = await PgQueueDepth(database).measure()

    running = await database.fetch("SELECT tenant FROM jobs WHERE state = 'running' ORDER BY tenant")
    assert [row["tenant"] for row in running] == [ACME, OTHER]
    assert depth.batch.jobs == 1
