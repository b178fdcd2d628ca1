"""Fills the queue with jobs of tenants with different weights; workers in several processes empty it."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from assayer.models import Idea, IdeaId
from benchmarks.queue.member import WorkerPlan, WorkerResult, run_worker
from orchestrator.jobs.models import JobId, TenantId, TenantPlan
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.store import Database, PgJobs, PgTenants

_TEXT = "We propose to smelt ore with sunlight and measure what it yields. " * 30
"""Text of 2 kB, about the size of an abstract."""


@dataclass(frozen=True)
class Plan:
    jobs: int
    weights: Sequence[float]
    workers: int
    places: int
    work_seconds: float
    beat_seconds: float
    rows: int
    """Rows per submission."""
    singles: int


@dataclass(frozen=True)
class CrowdResult:
    enqueued: int
    enqueue_seconds: float
    singles: int
    single_seconds: float
    drain_seconds: float
    worker_results: Sequence[WorkerResult]
    started_in_first_half: dict[str, int]
    """Started jobs by tenant, at the time when half of all jobs had been started."""
    done: int
    events: int


def build_tenant_id(number: int) -> TenantId:
    return TenantId(f"tenant-{number}")


async def measure(database: Database, url: str, plan: Plan) -> CrowdResult:
    for number, weight in enumerate(plan.weights):
        await PgTenants(database).create(build_tenant_id(number), TenantPlan(name=f"weight {weight:g}", weight=weight))
    started_at = time.perf_counter()
    enqueued = await _add_jobs(PgJobs(database), plan)
    filled_at = time.perf_counter()
    worker_results = await _drain(url, plan)
    drained_at = time.perf_counter()
    started_in_first_half = await _count_first_started(database, enqueued // 2)
    sums = await database.fetch_one(
        "SELECT (SELECT count(*) FROM jobs WHERE state = 'succeeded') AS done, (SELECT count(*) FROM events) AS events"
    )
    # Separately and last, so that these jobs are not among those that the workers share.
    await _add_single_jobs(PgJobs(database), plan)
    return CrowdResult(
        enqueued=enqueued,
        enqueue_seconds=filled_at - started_at,
        singles=plan.singles,
        single_seconds=time.perf_counter() - drained_at,
        drain_seconds=drained_at - filled_at,
        worker_results=worker_results,
        started_in_first_half=started_in_first_half,
        done=sums["done"] if sums else 0,
        events=sums["events"] if sums else 0,
    )


async def _add_jobs(jobs: PgJobs, plan: Plan) -> int:
    """Add jobs for each tenant in proportion to its weight, so that all have jobs waiting until the end; the
    heaviest comes last."""
    enqueued = 0
    for number, weight in reversed(list(enumerate(plan.weights))):
        count = round(plan.jobs * weight / sum(plan.weights))
        for start in range(0, count, plan.rows):
            rows = range(start, min(start + plan.rows, count))
            await jobs.add(build_tenant_id(number), [build_job(f"ev_{number}_{row}") for row in rows])
        enqueued += count
    return enqueued


async def _add_single_jobs(jobs: PgJobs, plan: Plan) -> None:
    async def submit(first_number: int) -> None:
        for number in range(first_number, plan.singles, 8):
            await jobs.add(build_tenant_id(number % len(plan.weights)), [build_job(f"single_{number}")])

    await asyncio.gather(*(submit(first_number) for first_number in range(8)))


def build_job(name: str) -> NewJob:
    idea = Idea(id=IdeaId(name), title=name, text=_TEXT, sections=(), source=name)
    return NewJob(id=JobId(name), request=EvaluationRequest(idea=idea), subject=name, priority="batch")


async def _drain(url: str, plan: Plan) -> list[WorkerResult]:
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(plan.workers, get_context("spawn")) as processes:
        worker_plans = [
            WorkerPlan(url, number, plan.places, plan.work_seconds, plan.beat_seconds) for number in range(plan.workers)
        ]
        return list(
            await asyncio.gather(
                *(loop.run_in_executor(processes, run_worker, worker_plan) for worker_plan in worker_plans)
            )
        )


async def _count_first_started(database: Database, count: int) -> dict[str, int]:
    rows = await database.fetch(
        """
        SELECT tenant, count(*) AS jobs FROM (SELECT tenant FROM jobs ORDER BY started_at, id LIMIT $1) AS first
        GROUP BY tenant ORDER BY tenant
        """,
        count,
    )
    return {row["tenant"]: row["jobs"] for row in rows}
