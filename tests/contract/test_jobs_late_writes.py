"""Writes of a worker to a job that was erased meanwhile are erased too."""

import datetime as dt

import pytest

from assayer.models import EvaluationId
from orchestrator.store import PgAnswerCache, PgLedger, PgReports
from tests.contract.store_jobs import Queue, build_job
from tests.contract.store_records import answer, build_answered_row, report

RUN, OTHER_RUN = EvaluationId("ev_erased"), EvaluationId("ev_other")


async def store(queue: Queue, run: EvaluationId) -> None:
    """An answer that was on its way, and the report that was being written."""
    await PgAnswerCache(queue.database).record(build_answered_row(f"key_{run}", run), answer(f"key_{run}"))
    await PgReports(queue.database).store(report(run))


async def get_stored(queue: Queue, run: EvaluationId) -> tuple[bool, bool]:
    """Whether the answer and the report are there."""
    cached_answer = await PgAnswerCache(queue.database).find(f"key_{run}")
    return cached_answer is not None, await PgReports(queue.database).get(run) is not None


async def begin(queue: Queue) -> None:
    await queue.add(build_job("a"))
    lease = await queue.acquire_lease()
    assert await queue.leases.record_run(lease, RUN, {})


@pytest.mark.parametrize("whole_tenant", [False, True])
async def test_writes_after_an_erasure_are_not_kept(queue: Queue, whole_tenant: bool) -> None:
    await begin(queue)
    assert await (queue.delete_tenant() if whole_tenant else queue.delete(build_job("a").id))

    await store(queue, RUN)
    await store(queue, OTHER_RUN)

    assert await get_stored(queue, RUN) == (False, False)
    assert await get_stored(queue, OTHER_RUN) == (True, True)
    assert [row.run_id for row in await PgLedger(queue.database).list_rows(RUN)] == [RUN]


async def test_writes_during_an_erasure_are_removed_by_the_next_purge(queue: Queue) -> None:
    """Neither transaction sees what the other writes."""
    await store(queue, RUN)
    await store(queue, OTHER_RUN)
    await queue.database.execute("INSERT INTO erased_runs (run_id) VALUES ($1)", RUN)

    await queue.jobs.purge(dt.datetime.now(dt.UTC))

    assert await get_stored(queue, RUN) == (False, False)
    assert await get_stored(queue, OTHER_RUN) == (True, True)


async def test_erased_runs_are_forgotten_after_a_week(queue: Queue) -> None:
    await begin(queue)
    await queue.delete(build_job("a").id)

    await queue.jobs.purge(dt.datetime.now(dt.UTC) + dt.timedelta(days=8))

    assert await queue.database.fetch("SELECT FROM erased_runs") == []
