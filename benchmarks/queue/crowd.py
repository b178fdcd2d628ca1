"""Fills the queue with jobs of tenants with different weights; workers in several processes empty it."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from assayer.models import Idea, IdeaId
from benchmarks.queue.member import Effort, Shift, run
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
class Seen:
    enqueued: int
    enqueue_seconds: float
    singles: int
    single_seconds: float
    drain_seconds: float
    efforts: Sequence[Effort]
    half: dict[str, int]
    """Started jobs by tenant, at the time when half of all jobs had been started."""
    done: int
    events: int


def tenant_of(place: int) -> TenantId:
    return TenantId(f"tenant-{place}")


async def measure(database: Database, url: str, plan: Plan) -> Seen:
    for place, weight in enumerate(plan.weights):
        await PgTenants(database).create(tenant_of(place), TenantPlan(name=f"weight {weight:g}", weight=weight))
    begun = time.perf_counter()
    enqueued = await _fill(PgJobs(database), plan)
    filled = time.perf_counter()
    efforts = await _drain(url, plan)
    drained = time.perf_counter()
    half = await _begun_first(database, enqueued // 2)
    sums = await database.fetch_one(
        "SELECT (SELECT count(*) FROM jobs WHERE state = 'succeeded') AS done, (SELECT count(*) FROM events) AS events"
    )
    # Separately and last, so that these jobs are not among those that the workers share.
    await _singles(PgJobs(database), plan)
    return Seen(
        enqueued=enqueued,
        enqueue_seconds=filled - begun,
        singles=plan.singles,
        single_seconds=time.perf_counter() - drained,
        drain_seconds=drained - filled,
        efforts=efforts,
        half=half,
        done=sums["done"] if sums else 0,
        events=sums["events"] if sums else 0,
    )


async def _fill(jobs: PgJobs, plan: Plan) -> int:
    """Add jobs for each tenant in proportion to its weight, so that all have jobs waiting until the end; the
    heaviest comes last."""
    enqueued = 0
    for place, weight in reversed(list(enumerate(plan.weights))):
        count = round(plan.jobs * weight / sum(plan.weights))
        for start in range(0, count, plan.rows):
            rows = range(start, min(start + plan.rows, count))
            await jobs.add(tenant_of(place), [job(f"ev_{place}_{row}") for row in rows])
        enqueued += count
    return enqueued


async def _singles(jobs: PgJobs, plan: Plan) -> None:
    async def client(first: int) -> None:
        for number in range(first, plan.singles, 8):
            await jobs.add(tenant_of(number % len(plan.weights)), [job(f"single_{number}")])

    await asyncio.gather(*(client(first) for first in range(8)))


def job(name: str) -> NewJob:
    idea = Idea(id=IdeaId(name), title=name, text=_TEXT, sections=(), source=name)
    return NewJob(id=JobId(name), request=EvaluationRequest(idea=idea), subject=name, priority="batch")


async def _drain(url: str, plan: Plan) -> list[Effort]:
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(plan.workers, get_context("spawn")) as members:
        shifts = [
            Shift(url, number, plan.places, plan.work_seconds, plan.beat_seconds) for number in range(plan.workers)
        ]
        return list(await asyncio.gather(*(loop.run_in_executor(members, run, shift) for shift in shifts)))


async def _begun_first(database: Database, count: int) -> dict[str, int]:
    rows = await database.fetch(
        """
        SELECT tenant, count(*) AS jobs FROM (SELECT tenant FROM jobs ORDER BY started_at, id LIMIT $1) AS first
        GROUP BY tenant ORDER BY tenant
        """,
        count,
    )
    return {row["tenant"]: row["jobs"] for row in rows}
