"""A database that goes away for longer than a lease: work goes on, and costs neither a try nor a loss."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from assayer.models import EvaluationId
from assayer.ports import Progress
from orchestrator.execution.chores import Chore, run_chores
from orchestrator.execution.worker import Worker
from orchestrator.jobs.models import JobId, JobVerdict, Lease
from orchestrator.settings import DatabaseSettings, ExecutionSettings, QueueSettings
from orchestrator.store import Database, NotificationListener, PgEvents, PgLeases
from orchestrator.store.chore_lock import PgChoreLock
from tests.contract.postgres_proxy import PostgresProxy
from tests.contract.store_jobs import Queue, build_job
from tests.polling import wait_until_async

LEASE_SECONDS = 1.5


class PatientPerformer:
    """Ends its job when it is told to, and is told when its work is stopped."""

    def __init__(self) -> None:
        self.begun: list[JobId] = []
        self.stopped: list[JobId] = []
        self.end = asyncio.Event()

    async def perform(
        self,
        lease: Lease,
        progress: Progress,
        begin: Callable[[EvaluationId, dict[str, Any]], Awaitable[None]],
    ) -> JobVerdict:
        self.begun.append(lease.job)
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.stopped.append(lease.job)
            raise
        return JobVerdict(state="succeeded", cost_usd=0.5)


@asynccontextmanager
async def run_worker(url: str, name: str, performer: PatientPerformer) -> AsyncIterator[None]:
    """A worker with its chores, as an evaluator has them."""
    settings = ExecutionSettings(poll_seconds=0.2, expire_seconds=0.2, longest_pause_seconds=0.2)
    queue = QueueSettings(lease_seconds=LEASE_SECONDS)
    async with (
        Database(DatabaseSettings(url=SecretStr(url), connect_seconds=1.0)) as database,
        NotificationListener(database) as listener,
        PgChoreLock(database) as lock,
    ):
        leases = PgLeases(database, queue)
        worker = Worker(name, 4, performer, leases, PgEvents(database), listener, settings, LEASE_SECONDS)
        chores = [Chore("take back expired leases", settings.expire_seconds, leases.expire)]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(worker.run()),
                group.create_task(run_chores(chores, lock, settings.longest_pause_seconds)),
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()


async def _fetch_row(database: Database, name: str) -> tuple[str, int, int, int]:
    (row,) = await database.fetch("SELECT state, attempt, losses, outages FROM jobs WHERE id = $1", name)
    return tuple(row)


async def test_job_continues_through_a_database_outage_longer_than_its_lease(queue: Queue, database_url: str) -> None:
    performer = PatientPerformer()
    await queue.add(build_job("kept"))
    async with PostgresProxy.run_before(database_url) as proxy, run_worker(proxy.url, "one", performer):
        await wait_until_async(lambda: _is_true(performer.begun))
        await proxy.cut_connections()
        await asyncio.sleep(2 * LEASE_SECONDS)  # what is tested is that so much time passes
        await proxy.restore()

        async def is_renewed() -> bool:
            row = await queue.database.fetch_one("SELECT leased_until > clock_timestamp() AS held FROM jobs")
            return row is not None and bool(row["held"])

        await wait_until_async(is_renewed)
        assert await _fetch_row(queue.database, "kept") == ("running", 1, 0, 0)
        performer.end.set()

        async def is_done() -> bool:
            return (await _fetch_row(queue.database, "kept"))[0] == "succeeded"

        await wait_until_async(is_done)
    assert await _fetch_row(queue.database, "kept") == ("succeeded", 1, 0, 0)
    assert (performer.begun, performer.stopped) == (["kept"], [])


async def test_disconnected_worker_loses_its_job_without_writing_a_verdict(queue: Queue, database_url: str) -> None:
    cut_off, other_performer = PatientPerformer(), PatientPerformer()
    await queue.add(build_job("moved"))
    async with PostgresProxy.run_before(database_url) as proxy, run_worker(proxy.url, "cut off", cut_off):
        await wait_until_async(lambda: _is_true(cut_off.begun))
        await proxy.cut_connections()
        async with run_worker(database_url, "other", other_performer):
            await wait_until_async(lambda: _is_true(other_performer.begun))
            await proxy.restore()
            await wait_until_async(lambda: _is_true(cut_off.stopped))
            cut_off.end.set()
            other_performer.end.set()

            async def is_done() -> bool:
                return (await _fetch_row(queue.database, "moved"))[0] == "succeeded"

            await wait_until_async(is_done)
    assert await _fetch_row(queue.database, "moved") == ("succeeded", 2, 1, 0)


async def _is_true(value: object) -> bool:
    return bool(value)
