"""Puts the database load of evaluators on PostgreSQL, without evaluating: the service's own workers, leases, events,
answers, ledger and reports.

Each evaluator has its own connection pool and listener, like a process of the service; several share a process here.
The model's answers are simulated by waiting, so that as many jobs are in progress as in the service."""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from pydantic import SecretStr

from assayer.models import CachedAnswer, CallRecord, EvaluationId, LedgerRow, Report
from assayer.ports import Progress, ProgressEvent
from cluster.clock import SystemClock
from orchestrator.execution.ports import LeaseLost, OnRunStarted
from orchestrator.execution.worker import Worker
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.settings import ExecutionSettings, QueueSettings
from orchestrator.store import Database, DatabaseSettings, NotificationListener, PgEvents, PgLeases
from orchestrator.store.llm_answer_cache import PgAnswerCache
from orchestrator.store.reports import PgReports

_CLOCK = SystemClock()
_LEVELS = 6
"""Number of answers that depend on one another; a job's other calls run in parallel with them."""
_CONNECTIONS = 3
"""Connections of one evaluator, excluding its listener's."""


@dataclass(frozen=True)
class EvaluatorGroup:
    """The evaluators of one process."""

    url: str
    number: int
    evaluators: int
    places: int
    calls: int
    """Model calls per job."""
    answer_seconds: float
    answer_chars: int
    report: str
    """Report as JSON; every job stores a report of this size, and answers are excerpts of it."""
    seconds: float


@dataclass
class EvaluatorResult:
    calls: int = 0
    jobs: int = 0
    waits: list[float] = field(default_factory=list)
    """Seconds to look up and write an answer, for a sample of the calls."""
    cpu_seconds: float = 0.0


def run_evaluators(group: EvaluatorGroup) -> EvaluatorResult:
    """Run jobs for a fixed number of seconds; unfinished jobs then end as if the process had died."""
    result = EvaluatorResult()
    asyncio.run(_run_workers(group, result))
    result.cpu_seconds = time.process_time()
    return result


async def _run_workers(group: EvaluatorGroup, result: EvaluatorResult) -> None:
    report = Report.model_validate_json(group.report)
    async with AsyncExitStack() as stack:
        workers: list[Worker] = []
        for number in range(group.evaluators):
            settings = DatabaseSettings(url=SecretStr(group.url), max_connections=_CONNECTIONS)
            database = await stack.enter_async_context(Database(settings))
            listener = await stack.enter_async_context(NotificationListener(database))
            rng = random.Random(f"{group.number}-{number}")
            workers.append(
                Worker(
                    name=f"evaluator-{group.number}-{number}",
                    max_jobs=group.places,
                    performer=_SimulatedPerformer(group, report, database, rng, result),
                    leases=PgLeases(database, QueueSettings()),
                    events=PgEvents(database),
                    listener=listener,
                    settings=ExecutionSettings(),
                    lease_seconds=QueueSettings().lease_seconds,
                )
            )
        tasks = [asyncio.create_task(worker.run()) for worker in workers]
        await asyncio.wait(tasks, timeout=group.seconds, return_when=asyncio.FIRST_EXCEPTION)
        errors = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if errors and errors[0] is not None:
            raise errors[0]


class _SimulatedPerformer:
    """Implements `orchestrator.execution.ports.JobPerformer`."""

    def __init__(
        self, group: EvaluatorGroup, report: Report, database: Database, rng: random.Random, result: EvaluatorResult
    ) -> None:
        self._group, self._report, self._rng, self._result = group, report, rng, result
        self._answers, self._reports = PgAnswerCache(database), PgReports(database)

    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        run_id = EvaluationId(f"run_{lease.job}")
        await begun(run_id, {"corpus": "none"})
        for level, calls in enumerate(_split_into_levels(self._group.calls)):
            progress.report(ProgressEvent(run_id, f"level {level}", level, _LEVELS))
            await asyncio.gather(*(self._make_call(run_id, f"{lease.job}/{level}/{number}") for number in range(calls)))
        report = self._report.model_copy(update={"evaluation_id": run_id})
        await self._reports.store(report)
        self._result.jobs += 1
        return JobVerdict(state="succeeded", run_id=run_id)

    async def _make_call(self, run_id: EvaluationId, key: str) -> None:
        started_at = time.perf_counter()
        if await self._answers.find(key) is not None:
            raise LeaseLost
        lookup_seconds = time.perf_counter() - started_at
        await asyncio.sleep(self._rng.expovariate(1 / self._group.answer_seconds))
        record = CallRecord(
            task="scholareval.reading",
            version=1,
            model="model",
            prompt_tokens=3_800,
            completion_tokens=300,
            cost_usd=0.001,
            latency_seconds=self._group.answer_seconds,
            attempts=1,
        )
        start = self._rng.randrange(max(1, len(self._group.report) - self._group.answer_chars))
        value = self._group.report[start : start + self._group.answer_chars]
        row = LedgerRow(run_id=run_id, key=key, record=record, outcome="answered", at=_CLOCK.now())
        started_at = time.perf_counter()
        await self._answers.record(row, CachedAnswer(key=key, value=value, record=record))
        self._result.calls += 1
        if self._result.calls % 16 == 0:
            self._result.waits.append(lookup_seconds + time.perf_counter() - started_at)


def _split_into_levels(calls: int) -> Sequence[int]:
    """Return the number of calls at each level: one at each end, the rest in the middle."""
    inner = max(0, calls - 2)
    middle = [inner // (_LEVELS - 2) + (level < inner % (_LEVELS - 2)) for level in range(_LEVELS - 2)]
    return (1, *middle, 1)
