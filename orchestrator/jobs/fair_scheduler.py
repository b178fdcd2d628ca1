"""Selection of the jobs that run next (stride scheduling between tenants, interactive jobs first, within budgets), and
the reason why a job waits.

Every tenant has a virtual time that grows by 1/weight with each job started; the tenant with the lowest virtual time is
next (Waldspurger and Weihl 1995). The queue has a clock, the lowest virtual time of the tenants that are waiting: a
tenant that was idle resumes at this time (as in start-time fair queuing, Goyal et al. 1996), so it cannot save up its
share. Interactive jobs are ranked as if their tenant's virtual time were earlier by a head start: they go first until
their tenant is that far ahead of its share. Overnight jobs have slots of their own and do not advance virtual time.

A tenant's jobs of one priority are started in order. A job that does not fit into the tenant's remaining budget holds
back the jobs behind it, at most until the next month; otherwise cheap jobs could overtake an expensive job forever."""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orchestrator.jobs.models import JobId, Priority, TenantId

_HEAD_START = 20.0
"""Lead in virtual time, that is, in started jobs of a tenant with weight 1, up to which a tenant's interactive jobs go
before the batch jobs of other tenants."""


class FreeSlots(NamedTuple):
    free: int
    """Total number of free slots."""
    interactive_only: int = 0
    """Number of free slots reserved for interactive jobs."""
    batch_only: bool = False
    """True if the slots are not available to interactive jobs."""
    overnight_only: bool = False
    """True if the slots are only for overnight jobs, which get no other slots."""


class WaitingJob(NamedTuple):
    """A job at the head of its queue."""

    job: JobId
    max_usd: float | None
    """Maximum cost of the job in US dollars; None if there is no limit."""
    suspect: bool = False
    """True if the job is suspected of crashing its workers."""


@dataclass(frozen=True)
class TenantQueue:
    """The jobs that a tenant has waiting, with its weight and limits."""

    tenant: TenantId
    weight: float
    virtual_time: float
    free_jobs: int | None
    """Number of further jobs of the tenant that are allowed to run; None: no limit."""
    budget_left: float | None
    """Remaining unreserved budget of the month; None: no budget."""
    interactive: Sequence[WaitingJob] = ()
    """Waiting interactive jobs in order. Jobs beyond the number of free slots may be left out."""
    batch: Sequence[WaitingJob] = ()
    overnight: Sequence[WaitingJob] = ()
    """Waiting overnight jobs; a request for overnight slots includes no other slots."""
    overnight_running: int = 0
    """Number of the tenant's running overnight jobs, which do not count towards the limit of other jobs."""


class Grant(NamedTuple):
    job: JobId
    tenant: TenantId
    max_usd: float | None
    reserved_usd: float
    """Amount reserved from the tenant's budget until the job ends; 0 without a budget."""


class Allocation(NamedTuple):
    grants: tuple[Grant, ...]
    clock: float
    virtual_times: Mapping[TenantId, float]
    """New virtual times of the tenants that got a slot."""


@dataclass
class _TenantShare:
    """A tenant's queue while slots are allocated."""

    tenant_queue: TenantQueue
    virtual_time: float
    free_jobs: int | None
    budget_left: float | None
    queues: Mapping[Priority, deque[WaitingJob]] = field(init=False)

    def __post_init__(self) -> None:
        self.queues = {
            "interactive": deque(self.tenant_queue.interactive),
            "batch": deque(self.tenant_queue.batch),
            "overnight": deque(self.tenant_queue.overnight),
        }

    def peek_job(self, priority: Priority, allow_suspects: bool) -> WaitingJob | None:
        """Return the next job of this priority if it is allowed to start, otherwise None. Without `allow_suspects`,
        suspect jobs are skipped."""
        queue = self.queues[priority]
        while queue and queue[0].suspect and not allow_suspects:
            queue.popleft()
        if not queue or self.free_jobs == 0:
            return None
        return queue[0] if self._can_afford(queue[0].max_usd) else None

    def _can_afford(self, max_usd: float | None) -> bool:
        return self.budget_left is None or (self.budget_left > 0 if max_usd is None else max_usd <= self.budget_left)

    def start_job(self, priority: Priority) -> Grant:
        job = self.queues[priority].popleft()
        self.virtual_time += 1 / self.tenant_queue.weight
        self.free_jobs = None if self.free_jobs is None else self.free_jobs - 1
        if self.budget_left is None:
            return Grant(job.job, self.tenant_queue.tenant, job.max_usd, 0.0)
        reserved_usd = self.budget_left if job.max_usd is None else job.max_usd
        self.budget_left -= reserved_usd
        return Grant(job.job, self.tenant_queue.tenant, reserved_usd, reserved_usd)


def allocate_slots(slots: FreeSlots, clock: float, tenants: Sequence[TenantQueue]) -> Allocation:
    """Allocate the free slots to waiting interactive and batch jobs. At most one suspect job is started."""
    shares = [
        _TenantShare(tenant, max(tenant.virtual_time, clock), tenant.free_jobs, tenant.budget_left)
        for tenant in tenants
    ]
    priorities: tuple[Priority, ...] = ("batch",) if slots.batch_only else ("interactive", "batch")
    eligible = [share for share in shares if any(share.peek_job(priority, True) for priority in priorities)]
    clock = min((share.virtual_time for share in eligible), default=clock)
    grants, served = _grant_slots(slots, eligible, priorities)
    return Allocation(tuple(grants), clock, {share.tenant_queue.tenant: share.virtual_time for share in served})


def allocate_overnight_slots(slots: FreeSlots, clock: float, tenants: Sequence[TenantQueue]) -> Allocation:
    """Allocate slots to overnight jobs. The tenant with the fewest running overnight jobs relative to its weight is
    next. These jobs run for hours and mostly wait, so they neither delay the tenant's other jobs nor count towards its
    limit of running jobs."""
    shares = [
        _TenantShare(tenant, tenant.overnight_running / tenant.weight, None, tenant.budget_left) for tenant in tenants
    ]
    grants, _ = _grant_slots(slots, shares, ("overnight",))
    return Allocation(tuple(grants), clock, {})


def _grant_slots(
    slots: FreeSlots, shares: Sequence[_TenantShare], priorities: Sequence[Priority]
) -> tuple[list[Grant], list[_TenantShare]]:
    ranks: dict[Priority, tuple[float, int]] = {
        "interactive": (_HEAD_START, 0),
        "batch": (0.0, 1),
        "overnight": (0.0, 1),
    }
    batch_slots = max(0, slots.free - slots.interactive_only)
    allow_suspects = True
    grants: list[Grant] = []
    served: dict[TenantId, _TenantShare] = {}

    def rank_share(share: _TenantShare, priority: Priority) -> tuple[float, int, TenantId]:
        head_start, rank = ranks[priority]
        return share.virtual_time - head_start, rank, share.tenant_queue.tenant

    by_tenant = {share.tenant_queue.tenant: share for share in shares}
    heap = [(*rank_share(share, priority), priority) for share in shares for priority in priorities]
    heapq.heapify(heap)
    while heap and len(grants) < slots.free:
        *queued_rank, tenant, priority = heap[0]
        share = by_tenant[tenant]
        if (current_rank := rank_share(share, priority)) > (queued_rank[0], queued_rank[1], tenant):
            heapq.heapreplace(heap, (*current_rank, priority))
            continue
        job = share.peek_job(priority, allow_suspects)
        if job is None or (priority == "batch" and batch_slots == 0):
            heapq.heappop(heap)
            continue
        grants.append(share.start_job(priority))
        served[tenant] = share
        allow_suspects = allow_suspects and not job.suspect
        batch_slots -= priority == "batch"
    return grants, list(served.values())


class QueuePosition(NamedTuple):
    """Position of a queued job, and the limits of its tenant."""

    seconds: float
    """Seconds until the job is allowed to start."""
    ahead: int
    """Number of jobs of the same tenant that come first."""
    running: int
    """Number of the tenant's running jobs; the following fields also describe the tenant."""
    max_running: int | None
    max_usd: float | None
    """Maximum cost of the job."""
    monthly_usd: float | None
    spent_usd: float
    reserved_usd: float


def explain_wait(position: QueuePosition) -> str:
    """Return a sentence that states why the job has not started: the first obstacle that applies."""
    if position.seconds > 0:
        return f"The last attempt did not finish. The next one can start in {position.seconds:.0f} s."
    if position.max_running is not None and position.running >= position.max_running:
        return f"Your organisation has reached its limit of running jobs ({position.running} running)."
    if reason := _explain_budget_wait(position):
        return reason
    if position.ahead:
        return f"Jobs of your organisation ahead of it in the queue: {position.ahead:,}."
    return "It starts when a worker is free."


def _explain_budget_wait(position: QueuePosition) -> str | None:
    if position.monthly_usd is None:
        return None
    budget_left = position.monthly_usd - position.spent_usd - position.reserved_usd
    if (budget_left > 0) if position.max_usd is None else (position.max_usd <= budget_left):
        return None
    cost_text = "It has no cost limit" if position.max_usd is None else f"It may cost {position.max_usd:g} USD"
    return (
        f"{cost_text}, but only {max(0.0, budget_left):.2f} USD remains of your organisation's budget of "
        f"{position.monthly_usd:g} USD a month: {position.spent_usd:.2f} USD is spent and "
        f"{position.reserved_usd:.2f} USD reserved for running jobs. It starts when enough of the reserved amount is "
        "released, when the budget is increased, or on the first of the month (UTC)."
    )
