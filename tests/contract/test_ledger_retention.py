"""Old calls in the ledger and old events: deleted once they are kept no longer, and no job needs them."""

import datetime as dt

from assayer.models import EvaluationId
from orchestrator.jobs.models import JobVerdict
from orchestrator.settings import RetentionSettings
from orchestrator.store import PgAnswerCache, PgEvents
from tests.contract.store_jobs import Queue, build_job
from tests.contract.store_records import answer, build_answered_row

RUN = EvaluationId("ev_run")
NOW = dt.datetime.now(dt.UTC)
AFTER_FOUR_MONTHS = NOW + dt.timedelta(days=130)
ONE_MONTH = RetentionSettings(ledger_months=1, event_months=1)


async def pay(queue: Queue, key: str, time: dt.datetime) -> None:
    await PgAnswerCache(queue.database).record(
        build_answered_row(key, RUN).model_copy(update={"at": time}), answer(key)
    )


async def list_ledger_keys(queue: Queue) -> list[str]:
    return [row["key"] for row in await queue.database.fetch("SELECT key FROM ledger ORDER BY at")]


async def test_ledger_entries_are_purged_only_when_retention_is_configured(queue: Queue) -> None:
    await pay(queue, "old", NOW)
    await pay(queue, "new", AFTER_FOUR_MONTHS)

    await queue.jobs.purge(NOW + dt.timedelta(days=10_000))
    assert await list_ledger_keys(queue) == ["old", "new"]
    await queue.jobs.purge((NOW.replace(day=1) + dt.timedelta(days=32)).replace(day=1), ONE_MONTH)
    assert await list_ledger_keys(queue) == ["old", "new"]  # of the month before the current one
    await queue.jobs.purge(AFTER_FOUR_MONTHS, ONE_MONTH)
    assert await list_ledger_keys(queue) == ["new"]


async def test_job_keeps_ledger_entries_and_result_after_events_are_purged(queue: Queue) -> None:
    await queue.add(build_job("ended"))
    lease = await queue.acquire_lease()
    await queue.leases.record_run(lease, RUN, {})
    await pay(queue, "paid", NOW)
    await queue.leases.finish(lease, JobVerdict(state="succeeded", run_id=RUN))
    await queue.add(build_job("waiting"))

    await queue.jobs.purge(AFTER_FOUR_MONTHS, ONE_MONTH)

    finished_job = await queue.get(lease.job)
    assert (finished_job.state, finished_job.cost_usd) == ("succeeded", 0.25)
    assert await list_ledger_keys(queue) == ["paid"]
    assert await PgEvents(queue.database).list_after(lease.job, 0) == []
    assert len(await PgEvents(queue.database).list_after(build_job("waiting").id, 0)) == 1
    assert await queue.delete(lease.job)
    assert await queue.delete(build_job("waiting").id)
    await queue.jobs.purge(AFTER_FOUR_MONTHS, ONE_MONTH)
    assert await list_ledger_keys(queue) == []
