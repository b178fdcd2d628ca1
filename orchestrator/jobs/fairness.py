"""Who gets the free places: stride scheduling between tenants, interactive jobs first, budgets kept. Pure.

Every tenant has a virtual time that grows by 1/weight with each job begun; the least is next (Waldspurger and Weihl
1995). The queue has a clock, the least virtual time of those who wait: a tenant who was idle resumes there (as in
start-time fair queuing, Goyal et al. 1996), so turns cannot be saved up. Interactive jobs are ranked as though their
tenant's time were earlier by a head start: they go first, until their tenant is that far ahead of its share.

A tenant's jobs of one priority are begun in order. One that does not fit into what is left of the tenant's budget
holds back those behind it, so that cheap jobs never pass a dear one for ever; it waits, at most until the next month.
"""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orchestrator.jobs.models import JobId, Priority, TenantId

__all__ = ["Contender", "Grant", "Places", "Shares", "Waiting", "share"]


class Places(NamedTuple):
    free: int
    """In all."""
    interactive_only: int = 0
    """Of these, only for interactive jobs."""


class Waiting(NamedTuple):
    """A job at the head of its line."""

    job: JobId
    max_usd: float | None
    """The most that it may cost; None: no limit."""
    suspect: bool = False
    """It may be what killed its workers."""


@dataclass(frozen=True)
class Contender:
    """A tenant with jobs in the queue."""

    tenant: TenantId
    weight: float
    virtual_time: float
    room: int | None
    """How many more may run; None: no limit."""
    money: float | None
    """What is left of this month and not reserved; None: no budget."""
    interactive: Sequence[Waiting] = ()
    """In order; as many as there are free places are enough."""
    batch: Sequence[Waiting] = ()


class Grant(NamedTuple):
    job: JobId
    tenant: TenantId
    max_usd: float | None
    reserved_usd: float
    """Kept from the tenant's budget until the job ends; 0 without a budget."""


class Shares(NamedTuple):
    grants: tuple[Grant, ...]
    clock: float
    times: Mapping[TenantId, float]
    """New virtual times of those who got something."""


@dataclass
class _Line:
    """A contender while places are given out."""

    contender: Contender
    time: float
    room: int | None
    money: float | None
    heads: Mapping[Priority, deque[Waiting]] = field(init=False)

    def __post_init__(self) -> None:
        self.heads = {"interactive": deque(self.contender.interactive), "batch": deque(self.contender.batch)}

    def fitting(self, priority: Priority, suspects: bool) -> Waiting | None:
        """The next of this priority, if it may be begun. Without `suspects`, they are passed over."""
        line = self.heads[priority]
        while line and line[0].suspect and not suspects:
            line.popleft()
        if not line or self.room == 0:
            return None
        return line[0] if self._affords(line[0].max_usd) else None

    def _affords(self, max_usd: float | None) -> bool:
        return self.money is None or (self.money > 0 if max_usd is None else max_usd <= self.money)

    def begin(self, priority: Priority) -> Grant:
        job = self.heads[priority].popleft()
        self.time += 1 / self.contender.weight
        self.room = None if self.room is None else self.room - 1
        if self.money is None:
            return Grant(job.job, self.contender.tenant, job.max_usd, 0.0)
        most = self.money if job.max_usd is None else job.max_usd
        self.money -= most
        return Grant(job.job, self.contender.tenant, most, most)


def share(places: Places, clock: float, contenders: Sequence[Contender], head_start: float) -> Shares:
    """Gives out as many of the places as there are jobs for. At most one suspect is begun."""
    lines = [_Line(one, max(one.virtual_time, clock), one.room, one.money) for one in contenders]
    able = [line for line in lines if line.fitting("interactive", True) or line.fitting("batch", True)]
    clock = min((line.time for line in able), default=clock)
    grants, served = _give_out(places, able, head_start)
    return Shares(tuple(grants), clock, {line.contender.tenant: line.time for line in served})


def _give_out(places: Places, lines: Sequence[_Line], head_start: float) -> tuple[list[Grant], list[_Line]]:
    ranks: dict[Priority, tuple[float, int]] = {"interactive": (head_start, 0), "batch": (0.0, 1)}
    for_batch = max(0, places.free - places.interactive_only)
    suspects = True
    grants: list[Grant] = []
    served: dict[TenantId, _Line] = {}

    def key(line: _Line, priority: Priority) -> tuple[float, int, TenantId]:
        ahead, rank = ranks[priority]
        return line.time - ahead, rank, line.contender.tenant

    by_tenant = {line.contender.tenant: line for line in lines}
    heap = [(*key(line, priority), priority) for line in lines for priority in ranks]
    heapq.heapify(heap)
    while heap and len(grants) < places.free:
        *seen, tenant, priority = heap[0]
        line = by_tenant[tenant]
        if (now := key(line, priority)) > (seen[0], seen[1], tenant):
            heapq.heapreplace(heap, (*now, priority))
            continue
        job = line.fitting(priority, suspects)
        if job is None or (priority == "batch" and for_batch == 0):
            heapq.heappop(heap)
            continue
        grants.append(line.begin(priority))
        served[tenant] = line
        suspects = suspects and not job.suspect
        for_batch -= priority == "batch"
    return grants, list(served.values())
