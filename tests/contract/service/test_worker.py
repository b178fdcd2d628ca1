"""A worker on a real queue: what it lost is refused, what fails for ever ends explained."""

import asyncio
import datetime as dt
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import pytest

from assayer.errors import LlmUnavailable
from assayer.models import EvaluationId
from assayer.ports import Progress, ProgressEvent
from orchestrator.execution.chores import Chore, run_chores
from orchestrator.execution.ports import JobPerformer, OnRunStarted
from orchestrator.execution.worker import Worker
from orchestrator.jobs.models import Job, JobId, JobVerdict, Lease, TenantId, TenantPlan
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.settings import ExecutionSettings, QueueSettings
from orchestrator.store import Database, NotificationListener, PgAnswerCache, PgEvents, PgJobs, PgLeases, PgTenants
from orchestrator.store.chore_lock import PgChoreLock
from orchestrator.store.database import Connection
from tests.contract.store_records import build_answered_row, call
from tests.polling import wait_until_async
from tests.unit.execution.in_memory_stores import IDEA

TENANT = TenantId("bees")
QUEUE = QueueSettings(max_failures=2)
WORK = ExecutionSettings(poll_seconds=0.2, expire_seconds=0.2)


class WaitingPerformer:
    """Performs a job until it is stopped, or told that it is done."""

    def __init__(self) -> None:
        self.attempts: list[int] = []
        self.stopped = 0
        self.done = asyncio.Event()

    async def wait_for_start(self) -> None:
        await wait_until_async(self._count_attempts, lambda attempts: attempts == 1)

    async def _count_attempts(self) -> int:
        return len(self.attempts)

    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        run = EvaluationId(f"ev_{lease.job}")
        await begun(run, {"models": ["twin"]})
        self.attempts.append(lease.attempt)
        try:
            await self.done.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return JobVerdict(state="succeeded", run_id=run)


class PoisonedPerformer:
    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        raise ZeroDivisionError("division by zero")


@dataclass
class UpgradedPerformer:
    """Performer that is upgraded between attempts: each attempt is a new run and pays for one answer."""

    database: Database

    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        run = EvaluationId(f"ev_{lease.attempt}")
        await begun(run, {"assayer": lease.attempt})
        paid = build_answered_row(run, run, call(cost_usd=3.0 if lease.attempt == 1 else 0.25))
        row = paid.model_copy(update={"at": dt.datetime.now(dt.UTC)})
        await PgAnswerCache(self.database).record(row, None)
        if lease.attempt == 1:
            raise LlmUnavailable("Nobody answers.")
        return JobVerdict(state="succeeded", run_id=run)


@dataclass
class Queue:
    database: Database
    jobs: PgJobs
    leases: PgLeases

    async def put(self) -> JobId:
        id = JobId(f"job_{uuid4().hex}")
        work = EvaluationRequest(idea=IDEA)
        await self.jobs.add(TENANT, [NewJob(id=id, request=work, subject="bees", priority="batch")])
        return id

    async def get(self, id: JobId) -> Job:
        job = await self.jobs.get(TENANT, id)
        assert job is not None
        return job

    async def reaches(self, id: JobId, holds: Callable[[Job], bool]) -> Job:
        return await wait_until_async(lambda: self.get(id), holds)


@pytest.fixture
async def queue(database: Database) -> Queue:
    await PgTenants(database).create(TENANT, TenantPlan(name="Bees"))
    return Queue(database, PgJobs(database), PgLeases(database, QUEUE))


@asynccontextmanager
async def run_worker(queue: Queue, performer: JobPerformer, lease_seconds: float = 30) -> AsyncIterator[Worker]:
    """Run a worker, and expire lost leases beside it."""
    async with NotificationListener(queue.database) as listener, PgChoreLock(queue.database) as lock:
        worker = Worker(
            name="worker",
            max_jobs=2,
            performer=performer,
            leases=queue.leases,
            events=PgEvents(queue.database),
            listener=listener,
            settings=WORK,
            lease_seconds=lease_seconds,
        )
        expiring = Chore("expire leases", WORK.expire_seconds, queue.leases.expire)
        chores = run_chores([expiring], lock, WORK.longest_pause_seconds)
        loops = [asyncio.create_task(loop) for loop in (worker.run(), chores)]
        try:
            yield worker
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)


async def wait_until_idle(worker: Worker) -> None:
    async def count_running_jobs() -> int:
        return worker.running_count

    await wait_until_async(count_running_jobs, lambda count_running_jobs: count_running_jobs == 0)


async def test_queued_job_is_leased_and_completed(queue: Queue) -> None:
    performer = WaitingPerformer()
    performer.done.set()
    async with run_worker(queue, performer):
        job = await queue.reaches(await queue.put(), lambda job: job.state == "succeeded")
    assert (job.attempt, job.problem) == (1, None)


async def test_worker_stops_when_another_worker_takes_its_lease(queue: Queue) -> None:
    performer = WaitingPerformer()
    async with run_worker(queue, performer, lease_seconds=3) as worker:
        id = await queue.put()
        await performer.wait_for_start()
        stolen_token = uuid4()
        await queue.database.execute("UPDATE jobs SET lease = $2, worker = 'another' WHERE id = $1", id, stolen_token)
        await wait_until_idle(worker)
        job = await queue.get(id)
        lease_row = await queue.database.fetch_one("SELECT lease FROM jobs WHERE id = $1", id)
    assert performer.stopped == 1
    assert job.state == "running"
    assert lease_row is not None
    assert lease_row["lease"] == stolen_token


async def test_a_cancelled_job_is_stopped_at_once(queue: Queue) -> None:
    performer = WaitingPerformer()
    async with run_worker(queue, performer, lease_seconds=3_600) as worker:
        id = await queue.put()
        await performer.wait_for_start()
        await queue.jobs.cancel(TENANT, id)
        await wait_until_idle(worker)
    assert performer.stopped == 1
    assert (await queue.get(id)).state == "cancelled"


class ReportingPerformer(WaitingPerformer):
    """Tells how far it has come as soon as it has begun."""

    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        run = EvaluationId(f"ev_{lease.job}")
        await begun(run, {"models": ["twin"]})
        await self.held.wait()
        progress.report(ProgressEvent(run, "searching", 1, 2))
        self.attempts.append(lease.attempt)
        await self.done.wait()
        return JobVerdict(state="succeeded", run_id=run)

    def __init__(self) -> None:
        super().__init__()
        self.held = asyncio.Event()


async def test_progress_write_timeout_is_logged_with_a_reason(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    """A lock on the job's row delays its events."""
    performer = ReportingPerformer()

    async def list_write_failures() -> list[str]:
        return [message for message in caplog.messages if "could not write" in message]

    async with run_worker(queue, performer):
        id = await queue.put()
        await queue.reaches(id, lambda job: job.run_id is not None)

        async def hold(connection: Connection) -> None:
            async with connection.transaction():
                await connection.fetch("SELECT FROM jobs WHERE id = $1 FOR UPDATE", id)
                performer.held.set()
                await wait_until_async(list_write_failures)

        await queue.database.run(hold)
        performer.done.set()
        await queue.reaches(id, lambda job: job.state == "succeeded")
    assert set(await list_write_failures()) == {f"could not write the progress of job {id}: TimeoutError"}


async def test_job_that_always_crashes_fails_with_error_references(
    queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    async with run_worker(queue, PoisonedPerformer()):
        id = await queue.put()
        await queue.reaches(id, lambda job: job.attempt == 1 and job.state == "queued")
        await queue.database.execute("UPDATE jobs SET ready_at = now() WHERE id = $1", id)  # instead of waiting
        job = await queue.reaches(id, lambda job: job.finished_at is not None)
    assert (job.state, job.attempt) == ("failed", 2)
    assert job.problem is not None
    assert "ZeroDivisionError" not in job.problem.detail
    references = re.findall(r"the reference (\w+)", job.problem.detail)
    assert len(references) == 2, job.problem.detail
    for reference in references:
        assert f"defect {reference}: Internal error in this job: ZeroDivisionError: division by zero" in caplog.text


async def test_job_continued_with_another_version_costs_the_sum_of_both(queue: Queue) -> None:
    async with run_worker(queue, UpgradedPerformer(queue.database)):
        id = await queue.put()
        await queue.reaches(id, lambda job: job.attempt == 1 and job.state == "queued")
        await queue.database.execute("UPDATE jobs SET ready_at = now() WHERE id = $1", id)  # instead of waiting
        job = await queue.reaches(id, lambda job: job.finished_at is not None)
        events = await PgEvents(queue.database).list_after(id, 0)
    assert (job.state, job.run_id, job.cost_usd) == ("succeeded", "ev_2", 3.25)
    assert "repinned" in [event.kind for event in events]
