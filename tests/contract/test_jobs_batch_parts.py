"""Further parts of an open batch: each is added once, whoever sends it and however often."""

import asyncio

import asyncpg
import pytest

from assayer_client.batches import RowError
from orchestrator.jobs.models import BatchId
from orchestrator.jobs.submissions import BatchClosed, MoreRows, NewBatch
from orchestrator.store import Database, PgJobs
from tests.contract.store_jobs import ACME, Losing, Queue, build_job, create_tenant
from tests.polling import wait_until_async

BATCH = BatchId("ba_1")
REFUSED = RowError(row=2, source="ideas.csv:2", field="text", detail="It is empty.")
ONLY_REFUSED = MoreRows(id=BATCH, first=2, rows=1, rejected=(REFUSED,), open=True)


@pytest.fixture
async def queue(database: Database) -> Queue:
    await create_tenant(database)
    queue = Queue(database)
    await queue.jobs.add(ACME, [build_job(row=1)], NewBatch(id=BATCH, name="b", rows=1, open=True))
    return queue


async def get_rows(queue: Queue) -> tuple[int, int, list[int | None]]:
    """Rows that the batch counts, refused ones, and the rows of its jobs."""
    batch = await queue.get_batch(BATCH)
    return batch.rows, len(batch.rejected), [row.job.row async for row in queue.jobs.iterate_batch_rows(ACME, BATCH)]


async def test_same_part_sent_concurrently_is_added_once(queue: Queue, database_url: str) -> None:
    async def send() -> bool:
        part = MoreRows(id=BATCH, first=2, rows=2, open=True)
        try:
            await queue.jobs.add(ACME, [build_job(row=2), build_job(row=3)], part)
        except BatchClosed:
            return False
        return True

    async def count_waiting() -> int:
        row = await queue.database.fetch_one(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"
        )
        return 0 if row is None else int(row["count"])

    # Both read before either writes: they wait for a transaction that holds the batch.
    holder = await asyncpg.connect(database_url)
    async with holder.transaction():
        await holder.execute("SELECT FROM batches WHERE id = $1 FOR UPDATE", BATCH)
        both = asyncio.gather(send(), send())
        await wait_until_async(count_waiting, lambda count: count >= 2)
    parts = await both
    await holder.close()

    assert sorted(parts) == [False, True]
    assert await get_rows(queue) == (3, 0, [1, 2, 3])


async def test_part_with_only_rejected_rows_is_added_once(queue: Queue) -> None:
    other_rejection = REFUSED.model_copy(update={"detail": "It is too long."})
    await queue.jobs.add(ACME, [], ONLY_REFUSED)

    with pytest.raises(BatchClosed):
        await queue.jobs.add(ACME, [], ONLY_REFUSED.model_copy(update={"rejected": (other_rejection,)}))

    assert await get_rows(queue) == (2, 1, [1])


async def test_part_with_only_rejected_rows_is_added_once_after_lost_response(queue: Queue) -> None:
    await PgJobs(Losing(queue.database)).add(ACME, [], ONLY_REFUSED)

    assert await get_rows(queue) == (2, 1, [1])
