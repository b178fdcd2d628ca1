"""Batch progress is stored, not counted; it must equal a count at any time, whatever runs concurrently."""

import asyncio

import asyncpg
import pytest

from orchestrator.jobs.models import TERMINAL, BatchId, JobState, JobVerdict, Lease
from orchestrator.jobs.submissions import NewBatch
from tests.contract.store_jobs import ACME, DONE, Queue, build_job

FIRST, SECOND = BatchId("ba_1"), BatchId("ba_2")


async def add(queue: Queue, batch: BatchId, rows: int) -> None:
    await queue.jobs.add(
        ACME, [build_job(row=row) for row in range(1, rows + 1)], NewBatch(id=batch, name="b", rows=rows)
    )


async def check(queue: Queue, batch: BatchId) -> dict[JobState, int]:
    """The counts, which agree with the jobs themselves."""
    rows = await queue.database.fetch("SELECT state, cost_usd, finished_at FROM jobs WHERE batch = $1", batch)
    status = await queue.get_batch(batch)
    counted = {state: sum(row["state"] == state for row in rows) for state in {row["state"] for row in rows}}
    assert status.counts == counted
    assert status.known_cost_usd == pytest.approx(sum(row["cost_usd"] or 0 for row in rows))
    unknown = status.erased > 0 or any(row["cost_usd"] is None for row in rows if row["state"] in TERMINAL)
    assert status.cost_usd == (None if unknown else status.known_cost_usd)
    end_times = [row["finished_at"] for row in rows if row["state"] in TERMINAL]
    assert status.finished_at == (max(end_times) if len(end_times) == len(rows) and rows else None)
    return status.counts


async def test_batch_counts_match_job_states_under_concurrency(queue: Queue) -> None:
    await asyncio.gather(add(queue, FIRST, 40), add(queue, SECOND, 40))

    async def work(number: int) -> None:
        for lease in await queue.acquire_leases(9, worker=f"w{number}"):
            await queue.leases.renew([lease.token])
            await end(number, lease)

    async def end(number: int, lease: Lease) -> None:
        match number % 4:
            case 0 | 1:
                await queue.leases.finish(lease, JobVerdict(state="succeeded", cost_usd=0.1))
            case 2:
                await queue.leases.give_back(lease, "Later.", attempt_failed=False, after_seconds=60)
            case _:
                await queue.jobs.cancel(ACME, lease.job)

    await asyncio.gather(*(work(number) for number in range(8)))
    both = [await check(queue, batch) for batch in (FIRST, SECOND)]
    assert {state for counts in both for state in counts} == {"succeeded", "queued", "cancelled"}

    await asyncio.gather(queue.jobs.cancel_batch(ACME, FIRST), *(work(number) for number in range(4)))
    assert sum((await check(queue, FIRST)).values()) == 40
    await check(queue, SECOND)


async def test_batch_cost_is_unknown_if_any_job_cost_is_unknown(queue: Queue) -> None:
    await add(queue, FIRST, 2)
    first, second = await queue.acquire_leases(2)
    await queue.leases.finish(first, JobVerdict(state="succeeded", cost_usd=0.5))
    assert (await queue.get_batch(FIRST)).cost_usd == 0.5
    await queue.leases.finish(second, JobVerdict(state="succeeded", cost_usd=0.25))
    # As of a model without a price.
    await queue.database.execute("UPDATE jobs SET cost_usd = NULL WHERE id = $1", second.job)
    status = await queue.get_batch(FIRST)
    assert (status.cost_usd, status.known_cost_usd) == (None, 0.5)


async def test_deleted_job_is_excluded_from_counts(queue: Queue) -> None:
    await add(queue, FIRST, 3)
    for lease in await queue.acquire_leases(2):
        await queue.leases.finish(lease, DONE)
        await queue.delete(lease.job)

    assert await check(queue, FIRST) == {"queued": 1}
    status = await queue.get_batch(FIRST)
    assert (status.erased, status.cost_usd, status.known_cost_usd) == (2, None, 0)


async def test_finishing_a_job_does_not_wait_for_an_upload(queue: Queue, database_url: str) -> None:
    """The upload is thousands of rows in one transaction, here held open."""
    await queue.jobs.add(ACME, [build_job(row=1)], NewBatch(id=FIRST, name="b", rows=1, open=True))
    uploader = await asyncpg.connect(database_url)
    async with uploader.transaction():
        await uploader.execute("SELECT FROM batches WHERE id = $1 FOR NO KEY UPDATE", FIRST)
        await uploader.execute(
            'INSERT INTO jobs (id, tenant, batch, "row", kind, priority, state, subject, request) '
            "VALUES ('late', $1, $2, 2, 'evaluation', 1, 'queued', '', '{}')",
            ACME,
            FIRST,
        )
        assert await queue.leases.finish(await queue.acquire_lease(), DONE)
        assert (await queue.get_batch(FIRST)).counts == {"succeeded": 1}
    await uploader.close()

    assert await check(queue, FIRST) == {"succeeded": 1, "queued": 1}
