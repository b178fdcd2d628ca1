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
    lease_of,
)

PATIENCE = ExecutionSettings(
    progress_seconds=3_600, poll_seconds=3_600, longest_pause_seconds=0.01, interactive_places=0
)
"""Progress is told at the end only, and nothing polls, so that no test waits for it."""


class World:
    """A worker and what it stands on."""

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
            settings=PATIENCE,
            lease_seconds=30,
        )

    async def ended(self, *leases: Lease) -> None:
        """The work on them is over, one way or another: their places are free, and the queue was asked for more."""
        tokens = {lease.token for lease in leases}

        def free() -> bool:
            return not tokens & self.worker.tokens and not any(item.token in tokens for item in self.leases.queued)

        await self.leases.until(free)


@asynccontextmanager
async def working(world: World) -> AsyncIterator[Worker]:
    running = asyncio.create_task(world.worker.run())
    try:
        yield world.worker
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def failing(error: Exception) -> Script:
    async def script(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {})
        raise error

    return script


async def test_invalid_input_fails_job_with_reason() -> None:
    lease = lease_of()
    world = World(lease, job_1=failing(InputError("The idea is empty.", "Write it.")))
    async with working(world):
        await world.ended(lease)
    verdict = world.leases.finished[lease.job]
    assert (verdict.state, verdict.run_id) == ("failed", RUN)
    assert verdict.problem is not None
    assert verdict.problem.detail == "The idea is empty. Write it."


async def test_unreachable_llm_endpoint_requeues_job_without_counting_attempt() -> None:
    lease = lease_of()
    world = World(lease, job_1=failing(LlmUnavailable("Nobody answers.")))
    async with working(world):
        await world.ended(lease)
    why, attempt_failed, seconds = world.leases.given_back[lease.job]
    assert ("Nobody answers." in why, attempt_failed, seconds > 0) == (True, False, True)
    assert world.leases.finished == {}


async def test_internal_error_fails_attempt_without_affecting_other_jobs(caplog: pytest.LogCaptureFixture) -> None:
    first, second = lease_of(1), lease_of(2)
    endless = EndlessJob()
    world = World(first, second, job_1=failing(ZeroDivisionError("division by zero")), job_2=endless)
    async with working(world):
        await endless.begun.wait()
        await world.ended(first)
        endless.release.set()
        await world.ended(second)
    why, attempt_failed, _ = world.leases.given_back[first.job]
    assert attempt_failed
    reference = re.search(r"the reference (\w+)", why)
    assert reference, why
    assert "ZeroDivisionError" not in why
    assert f"defect {reference[1]}: Internal error in this job: ZeroDivisionError: division by zero" in caplog.text
    assert world.leases.finished[second.job].state == "succeeded"


async def test_job_cancelled_before_start_releases_its_slot() -> None:
    lease = lease_of()
    world = World(lease)
    async with working(world) as worker:
        # With the step that makes the job's task, before that task's own first one.
        world.leases.on_acquire = lambda: asyncio.get_running_loop().call_soon(worker.stop_job, lease.job)
        await world.ended(lease)
        assert worker.running_count == 0
    assert (world.leases.begun, world.leases.finished) == ([], {})


async def test_missed_cancellation_is_detected_by_checking_leases() -> None:
    lost, kept = lease_of(1), lease_of(2)
    first, second = EndlessJob(), EndlessJob()
    world = World(lost, kept, job_1=first, job_2=second)
    async with working(world):
        await first.begun.wait()
        await second.begun.wait()
        world.leases.take(lost)
        world.notifications.subscription.mark_missed()
        await world.ended(lost)
        second.release.set()
        await world.ended(kept)
    assert first.stopped.is_set()
    assert list(world.leases.finished) == [kept.job]


async def test_job_with_lease_lost_before_start_is_not_started() -> None:
    lease = lease_of()
    world = World(lease)
    world.leases.take(lease)
    async with working(world):
        await world.ended(lease)
    assert (world.leases.begun, world.leases.finished, world.leases.given_back) == ([], {}, {})


async def test_worker_continues_during_database_outage_until_lease_loss_is_confirmed() -> None:
    lease = lease_of()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    async with working(world) as worker:
        await endless.begun.wait()
        world.leases.away = True
        assert not await worker._renewal.renew()
        assert not endless.stopped.is_set()
        world.leases.away = False
        world.leases.take(lease)
        world.notifications.subscription.mark_missed()
        await endless.stopped.wait()
    assert (world.leases.finished, world.leases.given_back) == ({}, {})


async def test_verdict_is_stored_after_database_outage() -> None:
    lease = lease_of()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    refused = 0

    def tried() -> bool:
        nonlocal refused
        refused += 1
        return refused == 4

    async with working(world):
        await endless.begun.wait()
        world.leases.away = True
        endless.release.set()
        await world.leases.until(tried)
        world.leases.away = False
        await world.leases.until(lambda: lease.job in world.leases.finished)
    assert world.leases.finished[lease.job].state == "succeeded"


async def test_draining_finishes_or_requeues_running_jobs_and_leases_nothing_new() -> None:
    quick, slow, late = lease_of(1), lease_of(2), lease_of(3)
    first, second = EndlessJob(), EndlessJob()
    world = World(quick, slow, late, places=2, job_1=first, job_2=second)
    async with working(world) as worker:
        await first.begun.wait()
        await second.begun.wait()
        draining = asyncio.create_task(worker.drain(3_600))
        await asyncio.sleep(0)  # for the draining to begin
        first.release.set()
        await world.leases.until(lambda: quick.job in world.leases.finished)
        await worker.drain(0)
        await draining
    assert world.leases.queued == [late]
    assert list(world.leases.finished) == [quick.job]
    why, attempt_failed, seconds = world.leases.given_back[slow.job]
    assert ("worker was stopped" in why, attempt_failed, seconds > 0) == (True, False, True)


async def test_progress_of_all_stages_is_sent_as_a_single_event() -> None:
    lease = lease_of()

    async def script(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {})
        for stage, done in (("search", 1), ("search", 2), ("judge", 1)):
            progress.report(ProgressEvent(RUN, stage, done, 2))
        return DONE

    world = World(lease, job_1=script)
    async with working(world):
        await world.ended(lease)
    stages = [{"stage": "search", "done": 2, "total": 2}, {"stage": "judge", "done": 1, "total": 2}]
    ((job, kind, told),) = world.events.appended
    assert (job, kind) == (lease.job, "progress")
    assert [{name: item[name] for name in ("stage", "done", "total")} for item in told["stages"]] == stages


async def begun_under(before: dict[str, Any] | None, now: dict[str, Any]) -> list[Any]:
    lease = lease_of(pinned=before)

    async def script(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, now)
        return DONE

    world = World(lease, job_1=script)
    async with working(world):
        await world.ended(lease)
    return world.events.appended


async def test_retry_with_changed_request_reports_changed_fields() -> None:
    told = await begun_under({"prompts": {"a": 1}, "models": ["m"]}, {"prompts": {"a": 2}, "models": ["m"]})
    assert [(kind, data) for _, kind, data in told] == [("repinned", {"changed": ["prompts"]})]


async def test_request_change_is_not_reported_on_first_or_unchanged_attempt() -> None:
    assert await begun_under(None, {"models": ["m"]}) == []
    assert await begun_under({"models": ["m"]}, {"models": ["m"]}) == []


counts = st.integers(0, 40)


@given(counts, counts, counts)
def test_worker_requests_only_free_slots_and_reserves_some_for_interactive_jobs(
    places: int, taken: int, interactive: int
) -> None:
    batch = 0
    everybody = taken
    while (asked := compute_slots_to_request(places, everybody, interactive)).free:
        assert 0 <= asked.interactive_only <= asked.free <= places - everybody
        if asked.free == asked.interactive_only:
            break
        batch += asked.free - asked.interactive_only
        everybody += asked.free - asked.interactive_only
    free = max(0, places - taken)
    assert batch == free - min(free, interactive, max(0, places - 1))


@given(st.integers(0, 10_000))
def test_retry_pause_grows_to_its_limit(failures: int) -> None:
    assert 0 < compute_pause_seconds(failures, 10.0) <= compute_pause_seconds(failures + 1, 10.0) <= 10.0


async def test_freed_slot_is_filled_immediately() -> None:
    leases = [lease_of(number) for number in range(3)]
    jobs = [EndlessJob() for _ in leases]
    world = World(*leases, places=2, **{f"job_{number}": job for number, job in enumerate(jobs)})
    async with working(world):
        await jobs[0].begun.wait()
        await jobs[1].begun.wait()
        assert world.leases.queued == [leases[2]]
        jobs[0].release.set()
        await jobs[2].begun.wait()
    assert [slots.free for slots in world.leases.asked] == [1, 1, 1]


async def test_queued_job_is_leased_on_notification() -> None:
    world = World()
    async with working(world):
        await world.leases.until(lambda: len(world.leases.asked) == 1)
        lease = lease_of()
        world.leases.put(lease)
        world.notifications.subscription.put("queued")
        await world.leases.until(lambda: lease.job in world.leases.finished)


async def test_worker_waits_for_unreachable_database() -> None:
    lease = lease_of()
    world = World(lease)
    world.leases.away = True
    async with working(world):
        await world.leases.until(lambda: len(world.leases.asked) == 3)
        world.leases.away = False
        await world.leases.until(lambda: lease.job in world.leases.finished)
