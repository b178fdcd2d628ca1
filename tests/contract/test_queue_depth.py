"""Queue depth as seen by evaluator scaling: the jobs that could start now."""

from orchestrator.store import Database
from orchestrator.store.queue_depth import PgQueueDepth, QueueDepth
from tests.contract.store_jobs import ACME, OTHER, Queue, job, tenant


async def test_empty_queue_holds_nothing(queue: Queue) -> None:
    assert await PgQueueDepth(queue.database).measure() == QueueDepth()


async def test_jobs_of_all_tenants_are_counted_by_priority_with_the_wait_of_the_first(queue: Queue) -> None:
    await tenant(queue.database, OTHER)
    await queue.add(job(), job(), job("now", "interactive"))
    await queue.add(job(), tenant=OTHER)
    await queue.database.execute(
        "UPDATE jobs SET ready_at = ready_at - interval '1 minute' WHERE tenant = $1 AND priority = 1", OTHER
    )

    depth = await PgQueueDepth(queue.database).measure()

    assert (depth.interactive.jobs, depth.batch.jobs) == (1, 3)
    assert 0 <= depth.interactive.oldest_seconds < 60 <= depth.batch.oldest_seconds


async def test_jobs_that_run_or_are_put_off_do_not_wait(queue: Queue) -> None:
    await queue.add(job(), job(), job())
    await queue.lease()
    await queue.leases.give_back(await queue.one(), "Later.", attempt_failed=False, after_seconds=600.0)

    assert (await PgQueueDepth(queue.database).measure()).batch.jobs == 1


async def test_jobs_that_their_tenant_may_not_start_call_for_no_evaluator(database: Database) -> None:
    await tenant(database, ACME, max_running=2)
    await tenant(database, OTHER, monthly_usd=1.0)
    queue = Queue(database)
    await queue.add(*(job() for _ in range(5)))
    await queue.add(job(max_usd=1.0), job(max_usd=1.0), tenant=OTHER)
    await queue.lease(free=2)

    depth = await PgQueueDepth(database).measure()

    running = await database.fetch("SELECT tenant FROM jobs WHERE state = 'running' ORDER BY tenant")
    assert [row["tenant"] for row in running] == [ACME, OTHER]
    assert depth.batch.jobs == 1
