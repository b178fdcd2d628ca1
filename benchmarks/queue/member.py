"""One worker in a separate process: leases jobs, sends heartbeats, works for a short time, finishes them."""

import asyncio
import random
import time
from dataclasses import dataclass, field

from pydantic import SecretStr

from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, DatabaseSettings, PgLeases

_DONE = JobVerdict(state="succeeded", cost_usd=0.01)


@dataclass(frozen=True)
class WorkerPlan:
    url: str
    number: int
    places: int
    work_seconds: float
    """Mean time of a job; times are exponentially distributed."""
    beat_seconds: float


@dataclass
class WorkerResult:
    leased: int = 0
    renewed: int = 0
    finished: int = 0
    lease_calls: int = 0
    lease_seconds: list[float] = field(default_factory=list)
    finish_seconds: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0


def run_worker(plan: WorkerPlan) -> WorkerResult:
    """Work until the queue is empty."""
    result = asyncio.run(_run_until_empty(plan))
    result.cpu_seconds = time.process_time()
    return result


async def _run_until_empty(plan: WorkerPlan) -> WorkerResult:
    settings = DatabaseSettings(url=SecretStr(plan.url), max_connections=8)
    async with Database(settings) as database:
        worker = _Worker(plan, PgLeases(database, QueueSettings()))
        async with asyncio.TaskGroup() as tasks:
            heartbeat_task = tasks.create_task(worker.send_heartbeats())
            await worker.lease_jobs(tasks)
            heartbeat_task.cancel()
        return worker.result


class _Worker:
    def __init__(self, plan: WorkerPlan, leases: PgLeases) -> None:
        self._plan = plan
        self._leases = leases
        self._rng = random.Random(plan.number)
        self._leases_by_job: dict[str, Lease] = {}
        self._has_free_place = asyncio.Event()
        self.result = WorkerResult()

    async def lease_jobs(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            self._has_free_place.clear()
            free_places = self._plan.places - len(self._leases_by_job)
            if free_places:
                started_at = time.perf_counter()
                leases = await self._leases.acquire(f"worker-{self._plan.number}", FreeSlots(free_places))
                self.result.lease_seconds.append(time.perf_counter() - started_at)
                self.result.lease_calls += 1
                self.result.leased += len(leases)
                if not leases and not self._leases_by_job:
                    return
                for lease in leases:
                    self._leases_by_job[lease.job] = lease
                    tasks.create_task(self._finish_job(lease))
            await self._has_free_place.wait()

    async def _finish_job(self, lease: Lease) -> None:
        await asyncio.sleep(self._rng.expovariate(1 / self._plan.work_seconds))
        started_at = time.perf_counter()
        if not await self._leases.finish(lease, _DONE):
            raise RuntimeError(f"The lease of {lease.job} was lost.")
        self.result.finish_seconds.append(time.perf_counter() - started_at)
        self.result.finished += 1
        del self._leases_by_job[lease.job]
        self._has_free_place.set()

    async def send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self._plan.beat_seconds)
            if tokens := [lease.token for lease in self._leases_by_job.values()]:
                self.result.renewed += len(await self._leases.renew(tokens))
