"""Whatever happens to jobs in whatever order, the tables say what the state machine says."""

import asyncio
import random
from typing import get_args

import pytest

from orchestrator.jobs.models import Job, JobVerdict, Lease, Problem
from orchestrator.jobs.state_machine import (
    AttemptHistory,
    AttemptLimits,
    Cancelled,
    Expired,
    Finished,
    GivenBack,
    Leased,
    RetryCause,
    StateChange,
    gave_up_problem,
    transition,
)
from orchestrator.settings import QueueSettings
from orchestrator.store import Database
from tests.contract.store_jobs import ACME, Queue, job, tenant

JOBS, STEPS = 12, 25
MOST = AttemptLimits(failures=3, losses=4, outages=3)
PROBLEM = Problem(type="test", title="Failed", detail="It is a test.")


class History:
    """One job, in the tables and in the state machine, with every lease that anybody ever had of it."""

    def __init__(self, queue: Queue, dice: random.Random, name: str) -> None:
        self.queue = queue
        self.dice = dice
        self.job = job(name)
        self.standing = AttemptHistory()
        self.leases: list[Lease] = []

    async def happen(self) -> None:
        """One thing, now and then by the holder of a lease that no longer holds."""
        old = bool(self.leases) and self.dice.random() < 0.2
        lease = self.dice.choice(self.leases) if old else self.leases[-1] if self.leases else None
        current = lease is not None and self.standing.state == "running" and lease is self.leases[-1]
        kind = self.dice.choice(("finish", "give back", "give back", "expire", "cancel", "beat"))
        match kind:
            case "finish" if lease is not None:
                await self._finish(lease, current)
            case "give back" if lease is not None:
                await self._give_back(lease, current)
            case "expire":
                await self._expire()
            case "cancel" if self.dice.random() < 0.2:
                self._took(Cancelled())
                await self.queue.jobs.cancel(ACME, self.job.id)
            case "beat" if lease is not None:
                assert await self.queue.leases.renew([lease.token]) == ({lease.token} if current else set())

    def leased(self, lease: Lease) -> None:
        assert self._took(Leased())
        self.leases.append(lease)

    async def _finish(self, lease: Lease, current: bool) -> None:
        state = self.dice.choice(("done", "failed"))
        problem = None if state == "done" else PROBLEM
        repeated = self.standing.state == state and lease is self.leases[-1]
        written = await self.queue.leases.finish(lease, JobVerdict.model_validate({"state": state, "problem": problem}))
        assert written == (current or repeated)
        if current:
            assert self._took(Finished("done" if state == "done" else "failed"))

    async def _give_back(self, lease: Lease, current: bool) -> None:
        cause: RetryCause = self.dice.choice(get_args(RetryCause))
        pause = 1e-6 if cause == "outage" else 0
        state = await self.queue.leases.give_back(lease, cause, attempt_failed=cause == "failure", after_seconds=pause)
        if current:
            assert self._took(GivenBack(cause, cause))
            assert state == self.standing.state
        else:
            assert state in {None, self.standing.state}

    async def _expire(self) -> None:
        sql = "UPDATE jobs SET leased_until = now() - interval '1 s' WHERE id = $1 AND state = 'running'"
        await self.queue.database.execute(sql, self.job.id)
        expired = await self.queue.leases.expire()
        assert expired == self._took(Expired("worker"))

    def _took(self, event: StateChange) -> bool:
        after = transition(self.standing, event, MOST)
        self.standing = after or self.standing
        return after is not None

    def agrees(self, stored: Job | None) -> None:
        assert stored is not None
        assert (stored.id, stored.state, stored.attempt) == (self.job.id, self.standing.state, len(self.leases))
        if stored.state == "dead":
            assert stored.problem == gave_up_problem(self.standing)


@pytest.mark.parametrize("seed", range(3))
async def test_any_history_of_jobs_is_that_of_the_state_machine(database: Database, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - a seed, so that what fails can be seen again
    settings = QueueSettings(max_failures=3, max_losses=4, max_outages=3, suspect_losses=100)
    queue = Queue(database, settings)
    await tenant(database)
    histories = {name: History(queue, dice, name) for name in (f"j{number}" for number in range(JOBS))}
    await queue.add(*(history.job for history in histories.values()))

    for _ in range(STEPS):
        for lease in await queue.lease(JOBS):
            histories[lease.job].leased(lease)
        for history in histories.values():
            await history.happen()

    stored = await asyncio.gather(*(queue.jobs.get(ACME, history.job.id) for history in histories.values()))
    for history, row in zip(histories.values(), stored, strict=True):
        history.agrees(row)
    assert {history.standing.state for history in histories.values()} >= {"done", "failed", "dead"}
