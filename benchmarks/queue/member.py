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
class Shift:
    url: str
    number: int
    places: int
    work_seconds: float
    """Mean time of a job; times are exponentially distributed."""
    beat_seconds: float


@dataclass
class Effort:
    leased: int = 0
    beaten: int = 0
    finished: int = 0
    lease_calls: int = 0
    lease_seconds: list[float] = field(default_factory=list)
    finish_seconds: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0


def run(shift: Shift) -> Effort:
    """Work until the queue is empty."""
    effort = asyncio.run(_run(shift))
    effort.cpu_seconds = time.process_time()
    return effort


async def _run(shift: Shift) -> Effort:
    settings = DatabaseSettings(url=SecretStr(shift.url), max_connections=8)
    async with Database(settings) as database:
        member = _Member(shift, PgLeases(database, QueueSettings()))
        async with asyncio.TaskGroup() as tasks:
            beating = tasks.create_task(member.beat())
            await member.lease(tasks)
            beating.cancel()
        return member.effort


class _Member:
    def __init__(self, shift: Shift, leases: PgLeases) -> None:
        self._shift = shift
        self._leases = leases
        self._dice = random.Random(shift.number)
        self._held: dict[str, Lease] = {}
        self._free = asyncio.Event()
        self.effort = Effort()

    async def lease(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            self._free.clear()
            free = self._shift.places - len(self._held)
            if free:
                begun = time.perf_counter()
                leases = await self._leases.acquire(f"worker-{self._shift.number}", FreeSlots(free))
                self.effort.lease_seconds.append(time.perf_counter() - begun)
                self.effort.lease_calls += 1
                self.effort.leased += len(leases)
                if not leases and not self._held:
                    return
                for lease in leases:
                    self._held[lease.job] = lease
                    tasks.create_task(self._work(lease))
            await self._free.wait()

    async def _work(self, lease: Lease) -> None:
        await asyncio.sleep(self._dice.expovariate(1 / self._shift.work_seconds))
        begun = time.perf_counter()
        if not await self._leases.finish(lease, _DONE):
            raise RuntimeError(f"The lease of {lease.job} was lost.")
        self.effort.finish_seconds.append(time.perf_counter() - begun)
        self.effort.finished += 1
        del self._held[lease.job]
        self._free.set()

    async def beat(self) -> None:
        while True:
            await asyncio.sleep(self._shift.beat_seconds)
            if tokens := [lease.token for lease in self._held.values()]:
                self.effort.beaten += len(await self._leases.renew(tokens))
