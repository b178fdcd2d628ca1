"""After random sequences of events, the tables agree with orchestrator/jobs/state_machine.py."""

import asyncio
import random

import pytest

from orchestrator.jobs.models import Job, JobState, JobVerdict, Lease, Problem
from orchestrator.jobs.state_machine import (
    UNFINISHED_STATES,
    AttemptHistory,
    AttemptLimits,
    RetryCause,
    build_gave_up_problem,
)
from orchestrator.settings import QueueSettings
from orchestrator.store import Database
from tests.contract.store_jobs import ACME, Queue, build_job, create_tenant

JOBS, STEPS = 12, 25
MOST = AttemptLimits(failures=3, losses=4, outages=3)
PROBLEM = Problem(type="test", title="Failed", detail="It is a test.")


class History:
    """A job in the tables and in the state machine, with all leases of it that were ever granted."""

    def __init__(self, queue: Queue, dice: random.Random, name: str) -> None:
        self.queue = queue
        self.dice = dice
        self.job = build_job(name)
        self.state: JobState = "queued"
        self.attempts = AttemptHistory()
        self.leases: list[Lease] = []
        self.expired: Lease | None = None

    async def happen_randomly(self) -> None:
        """Let one random event happen, sometimes with a lease that is no longer valid."""
        old = bool(self.leases) and self.dice.random() < 0.2
        lease = self.dice.choice(self.leases) if old else self.leases[-1] if self.leases else None
        current = lease is not None and self.state == "running" and lease is self.leases[-1]
        kind = self.dice.choice(("finish", "give back", "give back", "expire", "cancel", "beat"))
        match kind:
            case "finish" if lease is not None:
                await self._finish(lease, current)
            case "give back" if lease is not None:
                await self._give_back(lease, current)
            case "expire":
                await self._expire()
            case "cancel" if self.dice.random() < 0.2:
                self.state = "cancelled" if self.state in UNFINISHED_STATES else self.state
                await self.queue.jobs.cancel(ACME, self.job.id)
            case "beat" if lease is not None:
                assert await self.queue.leases.renew([lease.token]) == ({lease.token} if current else set())

    def record_lease(self, lease: Lease) -> None:
        assert self.state == "queued"
        self.state = "running"
        self.leases.append(lease)

    async def _finish(self, lease: Lease, current: bool) -> None:
        state: JobState = self.dice.choice(("succeeded", "failed"))
        problem = None if state == "succeeded" else PROBLEM
        repeated = self.state == state and lease is self.leases[-1] and lease is not self.expired
        written = await self.queue.leases.finish(lease, JobVerdict.model_validate({"state": state, "problem": problem}))
        assert written == (current or repeated)
        if current:
            self.state = state

    async def _give_back(self, lease: Lease, current: bool) -> None:
        cause: RetryCause = self.dice.choice(("failure", "outage"))
        state = await self.queue.leases.give_back(lease, cause, attempt_failed=cause == "failure", after_seconds=0)
        if current:
            self._record_end(cause, cause)
            assert state == self.state
        else:
            assert state in {None, self.state}

    async def _expire(self) -> None:
        sql = "UPDATE jobs SET leased_until = now() - interval '1 s' WHERE id = $1 AND state = 'running'"
        await self.queue.database.execute(sql, self.job.id)
        expired = await self.queue.leases.expire()
        assert expired == (self.state == "running")
        if expired:
            self._record_end("loss", "The process worker was lost while running this job.")
            self.expired = self.leases[-1]

    def _record_end(self, cause: RetryCause, reason: str) -> None:
        self.attempts = self.attempts.add_attempt(cause, reason)
        self.state = "failed" if self.attempts.has_exhausted(MOST) else "queued"

    def check(self, stored: Job | None) -> None:
        assert stored is not None
        assert (stored.id, stored.state, stored.attempt) == (self.job.id, self.state, len(self.leases))
        if stored.problem is not None and stored.problem.type == "gave-up":
            assert stored.problem == build_gave_up_problem(self.attempts)


@pytest.mark.parametrize("seed", range(3))
async def test_random_job_histories_match_the_state_machine(database: Database, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - a seed, so that what fails can be seen again
    settings = QueueSettings(max_failures=3, max_losses=4, max_outages=3, suspect_losses=100)
    queue = Queue(database, settings)
    await create_tenant(database)
    histories = {name: History(queue, dice, name) for name in (f"j{number}" for number in range(JOBS))}
    await queue.add(*(history.job for history in histories.values()))

    for _ in range(STEPS):
        for lease in await queue.acquire_leases(JOBS):
            histories[lease.job].record_lease(lease)
        for history in histories.values():
            await history.happen_randomly()

    stored = await asyncio.gather(*(queue.jobs.get(ACME, history.job.id) for history in histories.values()))
    for history, row in zip(histories.values(), stored, strict=True):
        history.check(row)
    assert {history.state for history in histories.values()} >= {"succeeded", "failed"}
