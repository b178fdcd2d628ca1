"""After random sequences of events, limits hold, and every cent paid is recorded as spent or reserved."""

import datetime as dt
import random

import pytest

from assayer.models import EvaluationId
from orchestrator.jobs.models import JobId, JobVerdict, Lease
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, PgAnswerCache
from tests.contract.store_jobs import RICH, Queue, build_job, create_tenant
from tests.contract.store_records import build_answered_row, call

JOBS, STEPS, LIMIT, MONTH = 8, 20, 2.0, 7.0
_LEDGER = "SELECT coalesce(sum(ledger.cost_usd), 0) AS usd FROM ledger JOIN runs USING (run_id) WHERE job = $1"
_BOOKS = """
    SELECT (SELECT coalesce(sum(cost_usd), 0) FROM ledger) AS paid,
           (SELECT coalesce(sum(usd), 0) FROM spending) AS spent,
           (SELECT coalesce(sum(reserved_usd), 0) FROM jobs) AS reserved
"""


class Payer:
    """Works on jobs, each attempt in one of two runs, and pays no more than its lease allows."""

    def __init__(self, queue: Queue, dice: random.Random) -> None:
        self.queue = queue
        self.dice = dice

    async def work(self, lease: Lease) -> None:
        assert lease.max_usd is not None
        assert lease.paid_usd == pytest.approx(await self.get_paid_usd(lease.job))
        run = EvaluationId(f"ev_{lease.job}_{self.dice.randint(1, 2)}")
        assert await self.queue.leases.record_run(lease, run, {"run": run})
        await self.pay(run, self.dice.choice((0, 0.3, 1)) * max(0.0, lease.max_usd - lease.paid_usd))

    async def pay(self, run: EvaluationId, usd: float) -> None:
        row = build_answered_row("key", run, call(cost_usd=usd)).model_copy(update={"at": dt.datetime.now(dt.UTC)})
        await PgAnswerCache(self.queue.database).record(row, None)

    async def end(self, lease: Lease) -> None:
        leases = self.queue.leases
        match self.dice.choice(("finish", "fail", "put off", "vanish", "cancel", "work on")):
            case "finish":
                await leases.finish(lease, JobVerdict(state="succeeded"))
            case "fail":
                await leases.give_back(lease, "It failed.", attempt_failed=True, after_seconds=0)
            case "put off":
                await leases.give_back(lease, "Later.", attempt_failed=False, after_seconds=0)
            case "vanish":
                await self.queue.expire_leases()
                await leases.expire()
            case "cancel":
                await self.queue.jobs.cancel(RICH, lease.job)
            case _:
                assert await leases.renew([lease.token]) <= {lease.token}

    async def get_paid_usd(self, job: JobId) -> float:
        row = await self.queue.database.fetch_one(_LEDGER, job)
        return 0.0 if row is None else float(row["usd"])

    async def check(self) -> None:
        (books,) = await self.queue.database.fetch(_BOOKS)
        assert books["paid"] <= books["spent"] + books["reserved"] + 1e-9
        assert books["spent"] + books["reserved"] <= MONTH + 1e-9
        for item in await self.queue.jobs.list(RICH, limit=JOBS):
            assert await self.get_paid_usd(item.id) <= LIMIT + 1e-9


async def test_calls_of_a_worker_with_slow_clock_are_charged(database: Database) -> None:
    queue = Queue(database)
    await create_tenant(database, RICH)
    await queue.add(build_job("late"), tenant=RICH)
    lease = await queue.acquire_lease()
    assert await queue.leases.record_run(lease, EvaluationId("ev_late"), {})
    early = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=5)
    row = build_answered_row("key", "ev_late", call(cost_usd=0.25)).model_copy(update={"at": early})
    await PgAnswerCache(database).record(row, None)

    await queue.leases.finish(lease, JobVerdict(state="succeeded"))

    finished_job = await queue.get(lease.job, RICH)
    assert finished_job.cost_usd == 0.25


async def test_calls_of_an_earlier_job_with_the_same_run_are_not_charged_again(database: Database) -> None:
    queue, run = Queue(database), EvaluationId("ev_shared")
    await create_tenant(database, RICH)
    await queue.add(build_job("first"), tenant=RICH)
    first = await queue.acquire_lease()
    assert await queue.leases.record_run(first, run, {})
    # By a clock that is ahead.
    ahead = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=5)
    row = build_answered_row("key", run, call(cost_usd=0.25)).model_copy(update={"at": ahead})
    await PgAnswerCache(database).record(row, None)
    await queue.leases.finish(first, JobVerdict(state="succeeded"))
    await queue.add(build_job("second"), tenant=RICH)
    second = await queue.acquire_lease()
    assert await queue.leases.record_run(second, run, {})

    await queue.leases.finish(second, JobVerdict(state="succeeded"))

    finished_job = await queue.get(second.job, RICH)
    assert finished_job.cost_usd == 0


@pytest.mark.parametrize("seed", range(3))
async def test_limits_hold_and_payments_are_always_spent_or_reserved(database: Database, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - a seed, so that what fails can be seen again
    queue = Queue(database, QueueSettings(max_failures=4, max_losses=6, suspect_losses=100))
    await create_tenant(database, RICH, monthly_usd=MONTH)
    await queue.add(*(build_job(f"j{number}", max_usd=LIMIT) for number in range(JOBS)), tenant=RICH)
    payer = Payer(queue, dice)

    for _ in range(STEPS):
        leases = await queue.acquire_leases(3)
        for lease in leases:
            await payer.work(lease)
        await payer.check()
        for lease in leases:
            await payer.end(lease)
            await payer.check()

    jobs = await queue.jobs.list(RICH, limit=JOBS)
    for item in jobs:
        await queue.jobs.cancel(RICH, item.id)
        assert item.cost_usd in (None, pytest.approx(await payer.get_paid_usd(item.id)))
    (books,) = await database.fetch(_BOOKS)
    assert books["spent"] == pytest.approx(books["paid"])
    assert books["paid"] > LIMIT
