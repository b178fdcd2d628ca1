"""A worker with twins of the stores: free places are filled, every lease comes to its end, and nothing else does."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError, LlmUnavailable
from assayer.ports import Progress, ProgressEvent
from orchestrator.execution.ports import OnRunStarted
from orchestrator.execution.worker import Worker, compute_pause_seconds, compute_slots_to_request
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.settings import ExecutionSettings
from tests.unit.execution.in_memory_stores import (
    DONE,
    RUN,
    EndlessJob,
    FakeNotifications,
    InMemoryEvents,
    InMemoryLeases,
    Script,
    ScriptedPerformer,
    make_lease,
)

SETTINGS = ExecutionSettings(
    progress_seconds=3_600, poll_seconds=3_600, longest_pause_seconds=0.01, interactive_places=0
)
"""Progress is told at the end only, and nothing polls, so that no test waits for it."""


class World:
    """Worker with in-memory stores."""

    def __init__(self, *leases: Lease, places: int = 4, **scripts: Script) -> None:
        self.leases = InMemoryLeases(*leases)
        self.events = InMemoryEvents()
        self.notifications = FakeNotifications()
        by_job = {lease.job: scripts[lease.job] for lease in leases if lease.job in scripts}
        self.worker = Worker(
            name="worker",
            max_jobs=places,
            performer=ScriptedPerformer(by_job),
            leases=self.leases,
            events=self.events,
            listener=self.notifications,
            settings=SETTINGS,
            lease_seconds=30,
        )

    async def wait_until_ended(self, *leases: Lease) -> None:
        """Wait until the leases are released and the queue has been asked for more."""
        tokens = {lease.token for lease in leases}

        def is_free() -> bool:
            return not tokens & self.worker.tokens and not any(item.token in tokens for item in self.leases.queued)

        await self.leases.until(is_free)


@asynccontextmanager
async def run_worker(world: World) -> AsyncIterator[Worker]:
    running = asyncio.create_task(world.worker.run())
    try:
        yield world.worker
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def make_failing_script(error: Exception) -> Script:
    async def fail(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {})
        raise error

    return fail


async def test_invalid_input_fails_job_with_reason() -> None:
    lease = make_lease()
    world = World(lease, job_1=make_failing_script(InputError("The idea is empty.", "Write it.")))
    async with run_worker(world):
        await world.wait_until_ended(lease)
    verdict = world.leases.finished[lease.job]
    assert (verdict.state, verdict.run_id) == ("failed", RUN)
    assert verdict.problem is not None
    assert verdict.problem.detail == "The idea is empty. Write it."


async def test_unreachable_llm_endpoint_requeues_job_without_counting_attempt() -> None:
    lease = make_lease()
    world = World(lease, job_1=make_failing_script(LlmUnavailable("Nobody answers.")))
    async with run_worker(world):
        await world.wait_until_ended(lease)
    reason, attempt_failed, seconds = world.leases.given_back[lease.job]
    assert ("Nobody answers." in reason, attempt_failed, seconds > 0) == (True, False, True)
    assert world.leases.finished == {}


async def test_internal_error_fails_attempt_without_affecting_other_jobs(caplog: pytest.LogCaptureFixture) -> None:
    first, second = make_lease(1), make_lease(2)
    endless = EndlessJob()
    world = World(first, second, job_1=make_failing_script(ZeroDivisionError("division by zero")), job_2=endless)
    async with run_worker(world):
        await endless.started.wait()
        await world.wait_until_ended(first)
        endless.release.set()
        await world.wait_until_ended(second)
    reason, attempt_failed, _ = world.leases.given_back[first.job]
    assert attempt_failed
    reference = re.search(r"the reference (\w+)", reason)
    assert reference, reason
    assert "ZeroDivisionError" not in reason
    assert f"defect {reference[1]}: Internal error in this job: ZeroDivisionError: division by zero" in caplog.text
    assert world.leases.finished[second.job].state == "succeeded"


async def test_job_cancelled_before_start_releases_its_slot() -> None:
    lease = make_lease()
    world = World(lease)
    async with run_worker(world) as worker:
        # With the step that makes the job's task, before that task's own first one.
        world.leases.on_acquire = lambda: asyncio.get_running_loop().call_soon(worker.stop_job, lease.job)
        await world.wait_until_ended(lease)
        assert worker.running_count == 0
    assert (world.leases.started_runs, world.leases.finished) == ([], {})


async def test_missed_cancellation_is_detected_by_checking_leases() -> None:
    lost_lease, valid_lease = make_lease(1), make_lease(2)
    first, second = EndlessJob(), EndlessJob()
    world = World(lost_lease, valid_lease, job_1=first, job_2=second)
    async with run_worker(world):
        await first.started.wait()
        await second.started.wait()
        world.leases.take(lost_lease)
        world.notifications.subscription.mark_missed()
        await world.wait_until_ended(lost_lease)
        second.release.set()
        await world.wait_until_ended(valid_lease)
    assert first.stopped.is_set()
    assert list(world.leases.finished) == [valid_lease.job]


async def test_job_with_lease_lost_before_start_is_not_started() -> None:
    lease = make_lease()
    world = World(lease)
    world.leases.take(lease)
    async with run_worker(world):
        await world.wait_until_ended(lease)
    assert (world.leases.started_runs, world.leases.finished, world.leases.given_back) == ([], {}, {})


async def test_worker_continues_during_database_outage_until_lease_loss_is_confirmed() -> None:
    lease = make_lease()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    async with run_worker(world) as worker:
        await endless.started.wait()
        world.leases.is_unreachable = True
        assert not await worker._renewal.renew()
        assert not endless.stopped.is_set()
        world.leases.is_unreachable = False
        world.leases.take(lease)
        world.notifications.subscription.mark_missed()
        await endless.stopped.wait()
    assert (world.leases.finished, world.leases.given_back) == ({}, {})


async def test_verdict_is_stored_after_database_outage() -> None:
    lease = make_lease()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    attempts = 0

    def has_tried_four_times() -> bool:
        nonlocal attempts
        attempts += 1
        return attempts == 4

    async with run_worker(world):
        await endless.started.wait()
        world.leases.is_unreachable = True
        endless.release.set()
        await world.leases.until(has_tried_four_times)
        world.leases.is_unreachable = False
        await world.leases.until(lambda: lease.job in world.leases.finished)
    assert world.leases.finished[lease.job].state == "succeeded"


async def test_draining_finishes_or_requeues_running_jobs_and_leases_nothing_new() -> None:
    quick, slow, late = make_lease(1), make_lease(2), make_lease(3)
    first, second = EndlessJob(), EndlessJob()
    world = World(quick, slow, late, places=2, job_1=first, job_2=second)
    async with run_worker(world) as worker:
        await first.started.wait()
        await second.started.wait()
        draining = asyncio.create_task(worker.drain(3_600))
        await asyncio.sleep(0)  # for the draining to begin
        first.release.set()
        await world.leases.until(lambda: quick.job in world.leases.finished)
        await worker.drain(0)
        await draining
    assert world.leases.queued == [late]
    assert list(world.leases.finished) == [quick.job]
    reason, attempt_failed, seconds = world.leases.given_back[slow.job]
    assert ("worker was stopped" in reason, attempt_failed, seconds > 0) == (True, False, True)


async def test_progress_of_all_stages_is_sent_as_a_single_event() -> None:
    lease = make_lease()

    async def report_progress(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {})
        for stage, done in (("search", 1), ("search", 2), ("judge", 1)):
            progress.report(ProgressEvent(RUN, stage, done, 2))
        return DONE

    world = World(lease, job_1=report_progress)
    async with run_worker(world):
        await world.wait_until_ended(lease)
    stages = [{"stage": "search", "done": 2, "total": 2}, {"stage": "judge", "done": 1, "total": 2}]
    ((job, kind, data),) = world.events.appended
    assert (job, kind) == (lease.job, "progress")
    assert [{name: item[name] for name in ("stage", "done", "total")} for item in data["stages"]] == stages


async def run_with_pinned_request(pinned_before: dict[str, Any] | None, pinned_now: dict[str, Any]) -> list[Any]:
    lease = make_lease(pinned=pinned_before)

    async def start_run(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, pinned_now)
        return DONE

    world = World(lease, job_1=start_run)
    async with run_worker(world):
        await world.wait_until_ended(lease)
    return world.events.appended


async def test_retry_with_changed_request_reports_changed_fields() -> None:
    changes = await run_with_pinned_request(
        {"prompts": {"a": 1}, "models": ["m"]}, {"prompts": {"a": 2}, "models": ["m"]}
    )
    assert [(kind, data) for _, kind, data in changes] == [("repinned", {"changed": ["prompts"]})]


async def test_request_change_is_not_reported_on_first_or_unchanged_attempt() -> None:
    assert await run_with_pinned_request(None, {"models": ["m"]}) == []
    assert await run_with_pinned_request({"models": ["m"]}, {"models": ["m"]}) == []


counts = st.integers(0, 40)


@given(counts, counts, counts)
def test_worker_requests_only_free_slots_and_reserves_some_for_interactive_jobs(
    places: int, already_leased: int, interactive: int
) -> None:
    batch = 0
    leased = already_leased
    while (requested := compute_slots_to_request(places, leased, interactive)).free:
        assert 0 <= requested.interactive_only <= requested.free <= places - leased
        if requested.free == requested.interactive_only:
            break
        batch += requested.free - requested.interactive_only
        leased += requested.free - requested.interactive_only
    free = max(0, places - already_leased)
    assert batch == free - min(free, interactive, max(0, places - 1))


@given(st.integers(0, 10_000))
def test_retry_pause_grows_to_its_limit(failures: int) -> None:
    assert 0 < compute_pause_seconds(failures, 10.0) <= compute_pause_seconds(failures + 1, 10.0) <= 10.0


async def test_freed_slot_is_filled_immediately() -> None:
    leases = [make_lease(number) for number in range(3)]
    jobs = [EndlessJob() for _ in leases]
    world = World(*leases, places=2, **{f"job_{number}": job for number, job in enumerate(jobs)})
    async with run_worker(world):
        await jobs[0].started.wait()
        await jobs[1].started.wait()
        assert world.leases.queued == [leases[2]]
        jobs[0].release.set()
        await jobs[2].started.wait()
    assert [slots.free for slots in world.leases.requested_slots] == [1, 1, 1]


async def test_queued_job_is_leased_on_notification() -> None:
    world = World()
    async with run_worker(world):
        await world.leases.until(lambda: len(world.leases.requested_slots) == 1)
        lease = make_lease()
        world.leases.put(lease)
        world.notifications.subscription.put("queued")
        await world.leases.until(lambda: lease.job in world.leases.finished)


async def test_worker_waits_for_unreachable_database() -> None:
    lease = make_lease()
    world = World(lease)
    world.leases.is_unreachable = True
    async with run_worker(world):
        await world.leases.until(lambda: len(world.leases.requested_slots) == 3)
        world.leases.is_unreachable = False
        await world.leases.until(lambda: lease.job in world.leases.finished)
