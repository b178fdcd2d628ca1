"""Measures how many evaluations a single PostgreSQL sustains.

Dozens of evaluators write everything that evaluations write, and wait instead of calling a model."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import NamedTuple

from benchmarks.queue.crowd import build_job, build_tenant_id
from benchmarks.queue.evaluators import EvaluatorGroup, EvaluatorResult, run_evaluators
from orchestrator.jobs.models import TenantPlan
from orchestrator.store import Database, PgJobs, PgTenants

_COUNTS = """
    SELECT (SELECT count(*) FROM jobs WHERE state = 'succeeded') AS jobs, (SELECT count(*) FROM ledger) AS calls,
           (SELECT count(*) FROM events) AS events, xact_commit AS commits, pg_database_size(datname) AS bytes,
           (SELECT wal_bytes FROM pg_stat_wal)::bigint AS wal, (SELECT count(*) FROM pg_stat_activity) AS connections
    FROM pg_stat_database WHERE datname = current_database()
"""


@dataclass(frozen=True)
class Load:
    evaluators: int
    processes: int
    places: int
    calls: int
    answer_seconds: float
    answer_chars: int
    report: str
    warm_seconds: float
    seconds: float


class _Sample(NamedTuple):
    at: float
    cpu: float
    counts: dict[str, int]


@dataclass(frozen=True)
class TrafficResult:
    """Totals of the measured period, excluding the warm-up."""

    seconds: float
    jobs: int
    calls: int
    events: int
    commits: int
    bytes: int
    wal: int
    connections: int
    server_cpu: float
    evaluator_results: list[EvaluatorResult]


async def measure(database: Database, url: str, load: Load, server_cpu: Callable[[], float]) -> TrafficResult:
    await _queue_jobs(database, load)
    loop = asyncio.get_running_loop()
    per_process, remainder = divmod(load.evaluators, load.processes)
    with ProcessPoolExecutor(load.processes, get_context("spawn")) as processes:
        futures = [
            loop.run_in_executor(
                processes, run_evaluators, _build_group(url, number, per_process + (number < remainder), load)
            )
            for number in range(load.processes)
        ]
        await asyncio.sleep(load.warm_seconds)
        first = await _take_sample(database, server_cpu)
        await asyncio.sleep(load.seconds)
        last = await _take_sample(database, server_cpu)
        evaluator_results = list(await asyncio.gather(*futures))
    totals = {name: last.counts[name] - first.counts[name] for name in first.counts}
    totals["connections"] = last.counts["connections"]
    return TrafficResult(
        seconds=last.at - first.at, server_cpu=last.cpu - first.cpu, evaluator_results=evaluator_results, **totals
    )


def _build_group(url: str, number: int, evaluators: int, load: Load) -> EvaluatorGroup:
    return EvaluatorGroup(
        url=url,
        number=number,
        evaluators=evaluators,
        places=load.places,
        calls=load.calls,
        answer_seconds=load.answer_seconds,
        answer_chars=load.answer_chars,
        report=load.report,
        # A little longer than the measured period.
        seconds=load.warm_seconds + load.seconds + 10,
    )


async def _queue_jobs(database: Database, load: Load) -> None:
    """Queue jobs of five tenants, more than can be done."""
    max_done = load.evaluators * load.places * (load.warm_seconds + load.seconds + 30) / load.answer_seconds
    for number in range(5):
        await PgTenants(database).create(build_tenant_id(number), TenantPlan(name="tenant", max_queued=1_000_000))
    for start in range(0, max(500, round(max_done)), 500):
        number = start // 500 % 5
        await PgJobs(database).add(build_tenant_id(number), [build_job(f"ev_{start + row}") for row in range(500)])


async def _take_sample(database: Database, server_cpu: Callable[[], float]) -> _Sample:
    counts = await database.fetch_one(_COUNTS)
    return _Sample(time.perf_counter(), server_cpu(), {} if counts is None else dict(counts))
