"""Jobs that get the free slots: all slots are used, in proportion to weights, and no tenant starves."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.jobs.fair_scheduler import (
    FreeSlots,
    Grant,
    TenantQueue,
    WaitingJob,
    allocate_overnight_slots,
    allocate_slots,
)
from orchestrator.jobs.models import JobId, TenantId

HEAD_START = 20.0


def jobs(tenant: str, kind: str, count: int, max_usd: float | None = None, suspect: bool = False) -> list[WaitingJob]:
    return [WaitingJob(JobId(f"{tenant}/{kind}/{number:05}"), max_usd, suspect) for number in range(count)]


def contender(
    tenant: str,
    weight: float = 1,
    time: float = 0,
    free_jobs: int | None = None,
    budget_left: float | None = None,
    interactive: Sequence[WaitingJob] = (),
    batch: Sequence[WaitingJob] = (),
) -> TenantQueue:
    return TenantQueue(TenantId(tenant), weight, time, free_jobs, budget_left, interactive, batch)


def given_to(grants: Sequence[Grant]) -> Counter[str]:
    return Counter(grant.tenant for grant in grants)


@dataclass
class Service:
    """Service that assigns slots in rounds; all jobs of a round end before the next."""

    waiting: dict[str, deque[WaitingJob]]
    weights: dict[str, float]
    clock: float = 0.0
    times: dict[TenantId, float] = field(default_factory=dict)

    def round(self, free: int) -> list[str]:
        lines = [
            contender(name, self.weights[name], self.times.get(TenantId(name), 0.0), batch=list(line)[:free])
            for name, line in self.waiting.items()
            if line
        ]
        shares = allocate_slots(FreeSlots(free), self.clock, lines)
        self.clock = shares.clock
        self.times.update(shares.virtual_times)
        for grant in shares.grants:
            assert self.waiting[grant.tenant].popleft().job == grant.job
        return [grant.tenant for grant in shares.grants]


limits = st.lists(st.none() | st.floats(0.1, 10), max_size=5)


@st.composite
def crowds(draw: st.DrawFn) -> list[TenantQueue]:
    """Up to four tenants, with and without limits."""
    return [
        contender(
            name,
            weight=draw(st.floats(0.1, 100)),
            time=draw(st.floats(0, 1_000)),
            free_jobs=draw(st.none() | st.integers(0, 8)),
            budget_left=draw(st.none() | st.floats(0, 20)),
            interactive=[WaitingJob(JobId(f"{name}/i/{place}"), usd) for place, usd in enumerate(draw(limits))],
            batch=[WaitingJob(JobId(f"{name}/b/{place}"), usd) for place, usd in enumerate(draw(limits))],
        )
        for name in "abcd"[: draw(st.integers(0, 4))]
    ]


places = st.builds(lambda free, only: FreeSlots(free, min(free, only)), st.integers(0, 12), st.integers(0, 12))


def after(tenant_queue: TenantQueue, grants: Sequence[Grant]) -> TenantQueue:
    """Return what remains of a contender's claims after the grants."""
    mine = {grant.job: grant for grant in grants if grant.tenant == tenant_queue.tenant}
    return replace(
        tenant_queue,
        free_jobs=None if tenant_queue.free_jobs is None else tenant_queue.free_jobs - len(mine),
        budget_left=None
        if tenant_queue.budget_left is None
        else tenant_queue.budget_left - sum(grant.reserved_usd for grant in mine.values()),
        interactive=[job for job in tenant_queue.interactive if job.job not in mine],
        batch=[job for job in tenant_queue.batch if job.job not in mine],
    )


def could_begin(tenant_queue: TenantQueue, line: Sequence[WaitingJob]) -> bool:
    if not line or tenant_queue.free_jobs == 0:
        return False
    limit = line[0].max_usd
    return tenant_queue.budget_left is None or (
        tenant_queue.budget_left > 0 if limit is None else limit <= tenant_queue.budget_left
    )


@given(places, st.floats(0, 500), crowds())
def test_all_slots_are_used_in_order_within_limits(places: FreeSlots, clock: float, crowd: list[TenantQueue]) -> None:
    shares = allocate_slots(places, clock, crowd)

    batch_ids = {job.job for item in crowd for job in item.batch}
    batch = sum(grant.job in batch_ids for grant in shares.grants)
    left = [after(item, shares.grants) for item in crowd]
    assert len(shares.grants) <= places.free
    assert batch <= places.free - places.interactive_only
    if len(shares.grants) < places.free:
        assert not any(could_begin(item, item.interactive) for item in left)
        if batch < places.free - places.interactive_only:
            assert not any(could_begin(item, item.batch) for item in left)
    assert shares.clock >= clock
    for item, rest in zip(crowd, left, strict=True):
        mine = {grant.job for grant in shares.grants if grant.tenant == item.tenant}
        assert rest.free_jobs is None or rest.free_jobs >= 0
        assert rest.budget_left is None or rest.budget_left >= -1e-9
        for line in (item.interactive, item.batch):
            begun = [job.job for job in line if job.job in mine]
            assert begun == [job.job for job in line][: len(begun)]
        if mine & batch_ids and item.budget_left is None:
            assert {job.job for job in item.interactive} <= mine
        if mine:
            assert shares.virtual_times[item.tenant] == pytest.approx(
                max(item.virtual_time, clock) + len(mine) / item.weight
            )


@settings(max_examples=30)
@given(st.lists(st.floats(0.5, 20), min_size=2, max_size=5), st.integers(1, 9))
def test_always_waiting_tenants_share_slots_by_weight(weights: list[float], free: int) -> None:
    names = [f"t{number}" for number in range(len(weights))]
    service = Service({name: deque(jobs(name, "batch", 400)) for name in names}, dict(zip(names, weights, strict=True)))

    had = Counter(tenant for _ in range(300 // free) for tenant in service.round(free))

    turns = {name: had[name] / weight for name, weight in service.weights.items()}
    # No tenant is ahead of another by more than one job of its own and one of the other's.
    for item, weight in service.weights.items():
        for other, others in service.weights.items():
            assert abs(turns[item] - turns[other]) <= 1 / weight + 1 / others + 1e-6


def test_idle_tenant_accumulates_no_extra_turns() -> None:
    service = Service({"busy": deque(jobs("busy", "batch", 500)), "idle": deque()}, {"busy": 1, "idle": 1})
    for _ in range(100):
        service.round(1)
    service.waiting["idle"].extend(jobs("idle", "batch", 100))

    had = Counter(service.round(1)[0] for _ in range(40))

    assert abs(had["busy"] - had["idle"]) <= 1


def test_tenants_back_together_after_all_were_idle_share_evenly() -> None:
    service = Service({"worked": deque(jobs("worked", "batch", 100)), "idle": deque()}, {"worked": 1, "idle": 1})
    for _ in range(100):
        service.round(1)
    for name, line in service.waiting.items():
        line.extend(jobs(name, "batch", 100))

    had = Counter(service.round(1)[0] for _ in range(40))

    assert abs(had["worked"] - had["idle"]) <= 2


def test_interactive_job_precedes_batch_job_of_less_served_tenant() -> None:
    crowd = [
        contender("a", time=5, interactive=jobs("a", "interactive", 1)),
        contender("b", time=0, batch=jobs("b", "batch", 9)),
    ]

    assert [grant.tenant for grant in allocate_slots(FreeSlots(2), 0, crowd).grants] == ["a", "b"]


def test_continuous_interactive_jobs_do_not_starve_batch_of_another_tenant() -> None:
    clock, time = 0.0, {TenantId("a"): 0.0, TenantId("b"): 0.0}
    had: Counter[str] = Counter()
    for _ in range(200):
        crowd = [
            contender("a", time=time[TenantId("a")], interactive=jobs("a", "interactive", 1)),
            contender("b", time=time[TenantId("b")], batch=jobs("b", "batch", 1)),
        ]
        shares = allocate_slots(FreeSlots(1), clock, crowd)
        clock, time = shares.clock, time | dict(shares.virtual_times)
        had += given_to(shares.grants)

    assert had["a"] - had["b"] == pytest.approx(HEAD_START, abs=2)


def test_job_without_limit_reserves_the_remaining_budget() -> None:
    crowd = [contender("a", budget_left=3.0, batch=jobs("a", "batch", 2))]

    (grant,) = allocate_slots(FreeSlots(4), 0, crowd).grants

    assert (grant.max_usd, grant.reserved_usd) == (3.0, 3.0)


def test_unaffordable_job_blocks_cheaper_jobs_behind_it() -> None:
    line = [*jobs("a", "dear", 1, max_usd=5.0), *jobs("a", "cheap", 3, max_usd=1.0)]

    assert allocate_slots(FreeSlots(4), 0, [contender("a", budget_left=4.0, batch=line)]).grants == ()
    assert len(allocate_slots(FreeSlots(4), 0, [contender("a", budget_left=7.0, batch=line)]).grants) == 3


def test_single_suspect_job_runs_at_a_time_while_others_proceed() -> None:
    crowd = [
        contender("a", batch=[*jobs("a", "suspect", 2, suspect=True), *jobs("a", "batch", 1)]),
        contender("b", batch=[*jobs("b", "suspect", 1, suspect=True), *jobs("b", "batch", 1)]),
    ]

    begun = [grant.job for grant in allocate_slots(FreeSlots(9), 0, crowd).grants]

    assert sorted(begun) == ["a/batch/00000", "a/suspect/00000", "b/batch/00000"]


def test_allocation_does_not_depend_on_tenant_order() -> None:
    crowd = [
        contender(f"t{number:03}", weight=1 + number % 5, batch=jobs(f"t{number}", "b", 4)) for number in range(99)
    ]

    forwards, backwards = (allocate_slots(FreeSlots(50), 0, order) for order in (crowd, crowd[::-1]))

    assert forwards.grants == backwards.grants


def test_batch_only_slots_are_not_used_by_interactive_jobs() -> None:
    crowd = [
        contender("a", interactive=jobs("a", "interactive", 3), batch=jobs("a", "batch", 2)),
        contender("b", interactive=jobs("b", "interactive", 1)),
    ]

    shares = allocate_slots(FreeSlots(4, batch_only=True), 0, crowd)

    assert [grant.job.split("/")[1] for grant in shares.grants] == ["batch", "batch"]
    assert shares.virtual_times.keys() == {"a"}


def test_overnight_slots_favour_least_served_tenant_and_cost_no_turns() -> None:
    crowd = [
        TenantQueue(TenantId("a"), 1, 5.0, 0, None, overnight=jobs("a", "overnight", 9), overnight_running=4),
        TenantQueue(TenantId("b"), 2, 900.0, None, None, overnight=jobs("b", "overnight", 9), overnight_running=1),
        TenantQueue(TenantId("c"), 1, 0.0, None, 3.0, overnight=jobs("c", "overnight", 9, max_usd=2.0)),
    ]

    shares = allocate_overnight_slots(FreeSlots(9, overnight_only=True), 7.0, crowd)

    assert given_to(shares.grants) == {"a": 1, "b": 7, "c": 1}
    assert (shares.clock, shares.virtual_times) == (7.0, {})


def test_regular_slots_are_not_used_by_overnight_jobs() -> None:
    crowd = [contender("a", batch=jobs("a", "batch", 1)), TenantQueue(TenantId("b"), 1, 0, None, None)]
    crowd = [replace(item, overnight=jobs(item.tenant, "overnight", 3)) for item in crowd]

    shares = allocate_slots(FreeSlots(4), 0, crowd)

    assert [grant.job for grant in shares.grants] == ["a/batch/00000"]
