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


def make_jobs(
    tenant: str, kind: str, count: int, max_usd: float | None = None, suspect: bool = False
) -> list[WaitingJob]:
    return [WaitingJob(JobId(f"{tenant}/{kind}/{number:05}"), max_usd, suspect) for number in range(count)]


def make_queue(
    tenant: str,
    weight: float = 1,
    time: float = 0,
    free_jobs: int | None = None,
    budget_left: float | None = None,
    interactive: Sequence[WaitingJob] = (),
    batch: Sequence[WaitingJob] = (),
) -> TenantQueue:
    return TenantQueue(TenantId(tenant), weight, time, free_jobs, budget_left, interactive, batch)


def count_grants(grants: Sequence[Grant]) -> Counter[str]:
    return Counter(grant.tenant for grant in grants)


@dataclass
class Service:
    """Service that assigns slots in rounds; all jobs of a round end before the next."""

    waiting: dict[str, deque[WaitingJob]]
    weights: dict[str, float]
    clock: float = 0.0
    times: dict[TenantId, float] = field(default_factory=dict)

    def run_round(self, free: int) -> list[str]:
        lines = [
            make_queue(name, self.weights[name], self.times.get(TenantId(name), 0.0), batch=list(line)[:free])
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
def draw_crowds(draw: st.DrawFn) -> list[TenantQueue]:
    """Draw queues of up to four tenants, with and without limits."""
    return [
        make_queue(
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


def subtract_grants(tenant_queue: TenantQueue, grants: Sequence[Grant]) -> TenantQueue:
    """Return what remains of a contender's claims after the grants."""
    grants_by_job = {grant.job: grant for grant in grants if grant.tenant == tenant_queue.tenant}
    return replace(
        tenant_queue,
        free_jobs=None if tenant_queue.free_jobs is None else tenant_queue.free_jobs - len(grants_by_job),
        budget_left=None
        if tenant_queue.budget_left is None
        else tenant_queue.budget_left - sum(grant.reserved_usd for grant in grants_by_job.values()),
        interactive=[job for job in tenant_queue.interactive if job.job not in grants_by_job],
        batch=[job for job in tenant_queue.batch if job.job not in grants_by_job],
    )


def can_start_first(tenant_queue: TenantQueue, line: Sequence[WaitingJob]) -> bool:
    if not line or tenant_queue.free_jobs == 0:
        return False
    limit = line[0].max_usd
    return tenant_queue.budget_left is None or (
        tenant_queue.budget_left > 0 if limit is None else limit <= tenant_queue.budget_left
    )


@given(places, st.floats(0, 500), draw_crowds())
def test_all_slots_are_used_in_order_within_limits(places: FreeSlots, clock: float, crowd: list[TenantQueue]) -> None:
    shares = allocate_slots(places, clock, crowd)

    batch_ids = {job.job for item in crowd for job in item.batch}
    batch = sum(grant.job in batch_ids for grant in shares.grants)
    remaining_queues = [subtract_grants(item, shares.grants) for item in crowd]
    assert len(shares.grants) <= places.free
    assert batch <= places.free - places.interactive_only
    if len(shares.grants) < places.free:
        assert not any(can_start_first(item, item.interactive) for item in remaining_queues)
        if batch < places.free - places.interactive_only:
            assert not any(can_start_first(item, item.batch) for item in remaining_queues)
    assert shares.clock >= clock
    for item, remaining in zip(crowd, remaining_queues, strict=True):
        granted_jobs = {grant.job for grant in shares.grants if grant.tenant == item.tenant}
        assert remaining.free_jobs is None or remaining.free_jobs >= 0
        assert remaining.budget_left is None or remaining.budget_left >= -1e-9
        for line in (item.interactive, item.batch):
            started_jobs = [job.job for job in line if job.job in granted_jobs]
            assert started_jobs == [job.job for job in line][: len(started_jobs)]
        if granted_jobs & batch_ids and item.budget_left is None:
            assert {job.job for job in item.interactive} <= granted_jobs
        if granted_jobs:
            assert shares.virtual_times[item.tenant] == pytest.approx(
                max(item.virtual_time, clock) + len(granted_jobs) / item.weight
            )


@settings(max_examples=30)
@given(st.lists(st.floats(0.5, 20), min_size=2, max_size=5), st.integers(1, 9))
def test_always_waiting_tenants_share_slots_by_weight(weights: list[float], free: int) -> None:
    names = [f"t{number}" for number in range(len(weights))]
    service = Service(
        {name: deque(make_jobs(name, "batch", 400)) for name in names}, dict(zip(names, weights, strict=True))
    )

    slot_counts = Counter(tenant for _ in range(300 // free) for tenant in service.run_round(free))

    turns = {name: slot_counts[name] / weight for name, weight in service.weights.items()}
    # No tenant is ahead of another by more than one job of its own and one of the other's.
    for item, weight in service.weights.items():
        for tenant_name, other_weight in service.weights.items():
            assert abs(turns[item] - turns[tenant_name]) <= 1 / weight + 1 / other_weight + 1e-6


def test_idle_tenant_accumulates_no_extra_turns() -> None:
    service = Service({"busy": deque(make_jobs("busy", "batch", 500)), "idle": deque()}, {"busy": 1, "idle": 1})
    for _ in range(100):
        service.run_round(1)
    service.waiting["idle"].extend(make_jobs("idle", "batch", 100))

    slot_counts = Counter(service.run_round(1)[0] for _ in range(40))

    assert abs(slot_counts["busy"] - slot_counts["idle"]) <= 1


def test_tenants_back_together_after_all_were_idle_share_evenly() -> None:
    service = Service({"worked": deque(make_jobs("worked", "batch", 100)), "idle": deque()}, {"worked": 1, "idle": 1})
    for _ in range(100):
        service.run_round(1)
    for name, line in service.waiting.items():
        line.extend(make_jobs(name, "batch", 100))

    slot_counts = Counter(service.run_round(1)[0] for _ in range(40))

    assert abs(slot_counts["worked"] - slot_counts["idle"]) <= 2


def test_interactive_job_precedes_batch_job_of_less_served_tenant() -> None:
    crowd = [
        make_queue("a", time=5, interactive=make_jobs("a", "interactive", 1)),
        make_queue("b", time=0, batch=make_jobs("b", "batch", 9)),
    ]

    assert [grant.tenant for grant in allocate_slots(FreeSlots(2), 0, crowd).grants] == ["a", "b"]


def test_continuous_interactive_jobs_do_not_starve_batch_of_another_tenant() -> None:
    clock, time = 0.0, {TenantId("a"): 0.0, TenantId("b"): 0.0}
    slot_counts: Counter[str] = Counter()
    for _ in range(200):
        crowd = [
            make_queue("a", time=time[TenantId("a")], interactive=make_jobs("a", "interactive", 1)),
            make_queue("b", time=time[TenantId("b")], batch=make_jobs("b", "batch", 1)),
        ]
        shares = allocate_slots(FreeSlots(1), clock, crowd)
        clock, time = shares.clock, time | dict(shares.virtual_times)
        slot_counts += count_grants(shares.grants)

    assert slot_counts["a"] - slot_counts["b"] == pytest.approx(HEAD_START, abs=2)


def test_job_without_limit_reserves_the_remaining_budget() -> None:
    crowd = [make_queue("a", budget_left=3.0, batch=make_jobs("a", "batch", 2))]

    (grant,) = allocate_slots(FreeSlots(4), 0, crowd).grants

    assert (grant.max_usd, grant.reserved_usd) == (3.0, 3.0)


def test_unaffordable_job_blocks_cheaper_jobs_behind_it() -> None:
    line = [*make_jobs("a", "dear", 1, max_usd=5.0), *make_jobs("a", "cheap", 3, max_usd=1.0)]

    assert allocate_slots(FreeSlots(4), 0, [make_queue("a", budget_left=4.0, batch=line)]).grants == ()
    assert len(allocate_slots(FreeSlots(4), 0, [make_queue("a", budget_left=7.0, batch=line)]).grants) == 3


def test_single_suspect_job_runs_at_a_time_while_others_proceed() -> None:
    crowd = [
        make_queue("a", batch=[*make_jobs("a", "suspect", 2, suspect=True), *make_jobs("a", "batch", 1)]),
        make_queue("b", batch=[*make_jobs("b", "suspect", 1, suspect=True), *make_jobs("b", "batch", 1)]),
    ]

    started_jobs = [grant.job for grant in allocate_slots(FreeSlots(9), 0, crowd).grants]

    assert sorted(started_jobs) == ["a/batch/00000", "a/suspect/00000", "b/batch/00000"]


def test_allocation_does_not_depend_on_tenant_order() -> None:
    crowd = [
        make_queue(f"t{number:03}", weight=1 + number % 5, batch=make_jobs(f"t{number}", "b", 4))
        for number in range(99)
    ]

    forwards, backwards = (allocate_slots(FreeSlots(50), 0, order) for order in (crowd, crowd[::-1]))

    assert forwards.grants == backwards.grants


def test_batch_only_slots_are_not_used_by_interactive_jobs() -> None:
    crowd = [
        make_queue("a", interactive=make_jobs("a", "interactive", 3), batch=make_jobs("a", "batch", 2)),
        make_queue("b", interactive=make_jobs("b", "interactive", 1)),
    ]

    shares = allocate_slots(FreeSlots(4, batch_only=True), 0, crowd)

    assert [grant.job.split("/")[1] for grant in shares.grants] == ["batch", "batch"]
    assert shares.virtual_times.keys() == {"a"}


def test_overnight_slots_favour_least_served_tenant_and_cost_no_turns() -> None:
    crowd = [
        TenantQueue(TenantId("a"), 1, 5.0, 0, None, overnight=make_jobs("a", "overnight", 9), overnight_running=4),
        TenantQueue(TenantId("b"), 2, 900.0, None, None, overnight=make_jobs("b", "overnight", 9), overnight_running=1),
        TenantQueue(TenantId("c"), 1, 0.0, None, 3.0, overnight=make_jobs("c", "overnight", 9, max_usd=2.0)),
    ]

    shares = allocate_overnight_slots(FreeSlots(9, overnight_only=True), 7.0, crowd)

    assert count_grants(shares.grants) == {"a": 1, "b": 7, "c": 1}
    assert (shares.clock, shares.virtual_times) == (7.0, {})


def test_regular_slots_are_not_used_by_overnight_jobs() -> None:
    crowd = [make_queue("a", batch=make_jobs("a", "batch", 1)), TenantQueue(TenantId("b"), 1, 0, None, None)]
    crowd = [replace(item, overnight=make_jobs(item.tenant, "overnight", 3)) for item in crowd]

    shares = allocate_slots(FreeSlots(4), 0, crowd)

    assert [grant.job for grant in shares.grants] == ["a/batch/00000"]
