"""A job that is begun anew under other settings: every run of it is paid for, counted in its budget, and erased."""

import datetime as dt

import pytest

from assayer.models import EvaluationId
from assayer.models.llm_batches import BatchCall
from orchestrator.jobs.models import JobVerdict, Lease, TenantId, TenantPlan
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, PgAnswerCache, PgLedger, PgReports, PgUsage
from orchestrator.store.llm_batches import PgBatchBook
from tests.contract.store_jobs import ACME, RICH, Losing, Queue, build_job, create_tenant
from tests.contract.store_records import answer, build_answered_row, call, report

FIRST, SECOND = EvaluationId("ev_of_the_old_version"), EvaluationId("ev_of_the_new_version")
UNCOUNTED = JobVerdict(state="succeeded", run_id=SECOND)
"""Verdict as workers store it; the cost is in the ledger."""


@pytest.fixture
async def queue(database: Database) -> Queue:
    await create_tenant(database)
    await create_tenant(database, RICH, monthly_usd=5.0)
    return Queue(database)


async def pay(queue: Queue, run: EvaluationId, usd: float | None, key: str = "") -> None:
    """Record a single answer with its price, and store it; `usd` is None if the price is unknown."""
    key = key or f"key_{run}"
    row = build_answered_row(key, run, call(cost_usd=usd)).model_copy(update={"at": dt.datetime.now(dt.UTC)})
    await PgAnswerCache(queue.database).record(row, answer(key))


async def begin(queue: Queue, run: EvaluationId, usd: float) -> Lease:
    """Leases the next job, and pays for one answer in that run."""
    lease = await queue.acquire_lease()
    assert await queue.leases.record_run(lease, run, {"assayer": run})
    await pay(queue, run, usd)
    return lease


async def begin_twice(queue: Queue, first_usd: float = 3.0, second_usd: float = 0.25) -> Lease:
    """The next job: its first run is given back, the second goes on."""
    lease = await begin(queue, FIRST, first_usd)
    await queue.leases.give_back(lease, "Its worker was stopped.", attempt_failed=False, after_seconds=0)
    return await begin(queue, SECOND, second_usd)


async def lose(queue: Queue) -> None:
    """Expire the leases of all running jobs."""
    await queue.expire_leases()
    await queue.leases.expire()


async def get_spending(queue: Queue, owner: TenantId = RICH) -> tuple[float, float]:
    """Return a tenant's spending and reservations of this month, in dollars."""
    day, now = dt.timedelta(days=1), dt.datetime.now(dt.UTC)
    usage = await PgUsage(queue.database).get_usage(owner, now - day, now + day)
    assert usage is not None
    return usage.spent_this_month_usd, usage.reserved_usd


@pytest.mark.parametrize("state", ["succeeded", "cancelled", "failed"])
async def test_ended_job_costs_the_sum_of_all_its_runs(database: Database, queue: Queue, state: str) -> None:
    queue = Queue(database, QueueSettings(max_losses=2))
    await queue.add(build_job("a"), tenant=RICH)
    lease = await begin_twice(queue)
    if state == "succeeded":
        assert await queue.leases.finish(lease, UNCOUNTED)
    elif state == "cancelled":
        await queue.jobs.cancel(RICH, lease.job)
    else:
        await lose(queue)
        await queue.acquire_lease()
        await lose(queue)

    finished_job = await queue.get(lease.job, RICH)
    assert (finished_job.state, finished_job.run_id, finished_job.cost_usd) == (state, SECOND, 3.25)
    assert await get_spending(queue) == (3.25, 0)


async def test_run_that_is_resumed_is_paid_for_once(queue: Queue) -> None:
    await queue.add(build_job("a"), tenant=RICH)
    lease = await begin(queue, FIRST, 1.0)
    await queue.leases.give_back(lease, "It timed out.", attempt_failed=True, after_seconds=0)
    lease = await queue.acquire_lease()
    assert await queue.leases.record_run(lease, FIRST, {})
    await pay(queue, FIRST, 0.5, "another key")

    assert await queue.leases.finish(lease, JobVerdict(state="succeeded", run_id=FIRST))

    finished_job = await queue.get(lease.job, RICH)
    assert finished_job.cost_usd == 1.5
    assert await get_spending(queue) == (1.5, 0)


@pytest.mark.parametrize(("price", "cost"), [(None, None), (0.25, 0.25), ("nothing was asked", 0)])
async def test_job_cost_is_zero_without_llm_requests_and_unknown_without_prices(
    queue: Queue, price: float | str | None, cost: float | None
) -> None:
    await queue.add(build_job("a"))
    lease = await queue.acquire_lease()
    await queue.leases.record_run(lease, SECOND, {})
    if not isinstance(price, str):
        await pay(queue, SECOND, price)

    await queue.leases.finish(lease, UNCOUNTED)

    finished_job = await queue.get(lease.job)
    assert finished_job.cost_usd == cost


async def test_usage_and_llm_requests_include_all_runs(queue: Queue) -> None:
    await queue.add(build_job("a"))
    lease = await begin_twice(queue)
    await queue.leases.finish(lease, UNCOUNTED)
    day, now = dt.timedelta(days=1), dt.datetime.now(dt.UTC)

    usage = await PgUsage(queue.database).get_usage(ACME, now - day, now + day)

    assert usage is not None
    assert (usage.llm_requests, usage.cost_usd) == (2, 3.25)
    assert (usage.prompt_tokens, usage.cached_prompt_tokens) == (200, 80)
    assert [row.run_id for row in await PgLedger(queue.database).list_job_rows(lease.job)] == [FIRST, SECOND]


async def list_stored(queue: Queue) -> dict[str, bool]:
    """Whether the answer, the report and the call that waits for a batch are there, of either run."""
    answers, reports = PgAnswerCache(queue.database), PgReports(queue.database)
    stored_kinds: dict[str, bool] = {}
    for run in (FIRST, SECOND):
        stored_kinds[f"answer of {run}"] = await answers.find(f"key_{run}") is not None
        stored_kinds[f"report of {run}"] = await reports.get(run) is not None
        calls = await queue.database.fetch("SELECT FROM llm_batch_calls WHERE run_id = $1", run)
        stored_kinds[f"waiting call of {run}"] = bool(calls)
    return stored_kinds


async def end_with_reports(queue: Queue) -> Lease:
    """The worker of the first run stored its report, and was lost before it could store its verdict."""
    await queue.add(build_job("a"))
    lease = await begin_twice(queue)
    for run in (FIRST, SECOND):
        await PgReports(queue.database).store(report(run))
        waiting = BatchCall(key=f"call of {run}", run_id=run, model="m", body="{}", until=dt.datetime.now(dt.UTC))
        await PgBatchBook(queue.database, "endpoint").enqueue(waiting)
    await queue.leases.finish(lease, UNCOUNTED)
    assert all((await list_stored(queue)).values())
    return lease


@pytest.mark.parametrize("clause", ["erasure", "retention", "deletion of the tenant"])
async def test_deleting_a_job_removes_data_of_all_its_runs(queue: Queue, clause: str) -> None:
    lease = await end_with_reports(queue)

    if clause == "erasure":
        assert await queue.delete(lease.job)
    elif clause == "retention":
        await queue.tenants.update(ACME, TenantPlan(name="acme", retention_days=30))
        assert await queue.jobs.purge(dt.datetime.now(dt.UTC) + dt.timedelta(days=31)) == 1
    else:
        assert await queue.delete_tenant()

    assert not any((await list_stored(queue)).values())


async def test_run_shared_by_two_jobs_is_kept_until_both_are_erased(queue: Queue) -> None:
    lease = await end_with_reports(queue)
    await queue.add(build_job("b"))
    other_lease = await queue.acquire_lease()
    assert await queue.leases.record_run(other_lease, FIRST, {})

    await queue.delete(lease.job)

    assert await list_stored(queue) == {
        f"answer of {FIRST}": True,
        f"report of {FIRST}": True,
        f"waiting call of {FIRST}": True,
        f"answer of {SECOND}": False,
        f"report of {SECOND}": False,
        f"waiting call of {SECOND}": False,
    }
    await queue.delete(other_lease.job)
    assert not any((await list_stored(queue)).values())


async def test_attempt_cost_is_booked_when_the_job_is_returned(queue: Queue) -> None:
    await queue.add(build_job("a", max_usd=4.0), tenant=RICH)
    lease = await begin(queue, FIRST, 3.0)
    assert await get_spending(queue) == (0, 4.0)

    await queue.leases.give_back(lease, "The endpoint is down.", attempt_failed=False, after_seconds=60)

    assert await get_spending(queue) == (3.0, 0)
    await queue.add(build_job("b", max_usd=2.5), tenant=RICH)
    assert await queue.acquire_leases() == []
    assert "3.00 USD is spent" in (await queue.jobs.explain_waiting(RICH, build_job("b").id) or "")


@pytest.mark.parametrize(
    ("limit", "paid", "shown_usd", "remaining_usd"),
    [
        pytest.param(4.0, 3.0, 4.0, 1.0, id="of its limit"),
        pytest.param(None, 3.0, 5.0, 2.0, id="of the month"),
        pytest.param(4.0, 4.5, 4.0, 0, id="nothing, whatever the month has left"),
    ],
)
async def test_next_attempt_gets_the_remaining_budget(
    queue: Queue, limit: float | None, paid: float, shown_usd: float, remaining_usd: float
) -> None:
    await queue.add(build_job("a", max_usd=limit), tenant=RICH)
    lease = await begin(queue, FIRST, paid)
    assert (lease.max_usd, lease.paid_usd, lease.paid_prompt_tokens) == (shown_usd, 0, 0)
    await queue.leases.give_back(lease, "It timed out.", attempt_failed=True, after_seconds=0)

    again = await queue.acquire_lease()

    assert (again.max_usd, again.paid_usd, again.paid_prompt_tokens) == (shown_usd, paid, 100)
    assert await get_spending(queue) == (paid, remaining_usd)


async def test_llm_request_recorded_after_lease_expiry_counts_in_next_attempt(queue: Queue) -> None:
    await queue.add(build_job("a", max_usd=4.0), tenant=RICH)
    await begin(queue, FIRST, 1.0)
    await lose(queue)
    await pay(queue, FIRST, 0.5, "late")

    again = await queue.acquire_lease()
    assert (again.max_usd, again.paid_usd) == (4.0, 1.5)
    assert await get_spending(queue) == (1.0, 3.0)
    await queue.leases.finish(again, JobVerdict(state="succeeded", run_id=FIRST))

    assert await get_spending(queue) == (1.5, 0)


async def test_returned_job_is_charged_once_after_lost_response(queue: Queue, database: Database) -> None:
    await queue.add(build_job("a", max_usd=4.0), tenant=RICH)
    lease = await begin(queue, FIRST, 3.0)

    losing = Queue(Losing(database))
    await losing.leases.give_back(lease, "It timed out.", attempt_failed=True, after_seconds=0)

    assert await get_spending(queue) == (3.0, 0)


async def test_returned_job_exceeding_reduced_budget_fails_with_its_actual_cost(queue: Queue) -> None:
    await queue.add(build_job("a", max_usd=4.0), tenant=RICH)
    lease = await begin(queue, FIRST, 1.0)
    await queue.leases.give_back(lease, "It timed out.", attempt_failed=True, after_seconds=0)
    await queue.tenants.update(RICH, TenantPlan(name="rich", monthly_usd=2.0))

    assert await queue.acquire_leases() == []

    failed = await queue.get(lease.job, RICH)
    assert (failed.state, failed.cost_usd) == ("failed", 1.0)
    assert await get_spending(queue) == (1.0, 0)
