"""A worker with twins of the stores: every lease comes to its end, and nothing else does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from assayer.errors import InputError, LlmUnavailable
from assayer.ports import Progress, ProgressEvent
from orchestrator.execution.ports import OnRunStarted
from orchestrator.execution.worker import Worker
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
    Ticking,
    lease_of,
)

PATIENCE = ExecutionSettings(progress_seconds=3_600, longest_pause_seconds=0.01)
"""Progress is told at the end only, so that no test waits for it."""


class World:
    """A worker and what it stands on."""

    def __init__(self, *leases: Lease, places: int = 4, **scripts: Script) -> None:
        self.leases = InMemoryLeases(*leases)
        self.events = InMemoryEvents()
        self.notifications = FakeNotifications()
        self.clock = Ticking()
        by_job = {lease.job: scripts[lease.job] for lease in leases if lease.job in scripts}
        self.worker = Worker(
            name="worker",
            places=places,
            performer=ScriptedPerformer(by_job),
            leases=self.leases,
            events=self.events,
            listener=self.notifications,
            settings=PATIENCE,
            lease_seconds=30,
            clock=self.clock,
        )


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


async def test_a_job_that_is_done_has_its_verdict() -> None:
    lease = lease_of()
    world = World(lease)
    async with working(world) as worker:
        assert await worker.perform(lease) == "ended"
    assert world.leases.finished == {lease.job: DONE}
    assert world.leases.begun == [(lease.job, RUN)]
    assert worker.capacity == (4, 0)


async def test_an_input_that_cannot_be_used_is_a_verdict_with_its_reason() -> None:
    lease = lease_of()
    world = World(lease, job_1=failing(InputError("The idea is empty.", "Write it.")))
    async with working(world) as worker:
        await worker.perform(lease)
    verdict = world.leases.finished[lease.job]
    assert (verdict.state, verdict.run_id) == ("failed", RUN)
    assert verdict.problem is not None
    assert verdict.problem.detail == "The idea is empty. Write it."


async def test_an_endpoint_out_of_reach_sends_the_job_back_without_blame() -> None:
    lease = lease_of()
    world = World(lease, job_1=failing(LlmUnavailable("Nobody answers.")))
    async with working(world) as worker:
        await worker.perform(lease)
    why, attempt_failed, seconds = world.leases.given_back[lease.job]
    assert ("Nobody answers." in why, attempt_failed, seconds > 0) == (True, False, True)
    assert world.leases.finished == {}


async def test_a_defect_in_one_job_touches_no_other() -> None:
    first, second = lease_of(1), lease_of(2)
    endless = EndlessJob()
    world = World(first, second, job_1=failing(ZeroDivisionError("division by zero")), job_2=endless)
    async with working(world) as worker:
        other = asyncio.create_task(worker.perform(second))
        await endless.begun.wait()
        await worker.perform(first)
        endless.release.set()
        await other
    why, attempt_failed, _ = world.leases.given_back[first.job]
    assert ("ZeroDivisionError" in why, attempt_failed) == (True, True)
    assert world.leases.finished[second.job].state == "done"


async def test_a_caller_that_goes_away_does_not_stop_the_work() -> None:
    lease = lease_of()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    async with working(world) as worker:
        caller = asyncio.create_task(worker.perform(lease))
        await endless.begun.wait()
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
        endless.release.set()
        await world.leases.until(lambda: lease.job in world.leases.finished)
    assert not endless.stopped.is_set()


async def test_the_same_lease_handed_over_twice_is_worked_on_once() -> None:
    lease = lease_of()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    async with working(world) as worker:
        both = [asyncio.create_task(worker.perform(lease)) for _ in range(2)]
        await endless.begun.wait()
        endless.release.set()
        assert await asyncio.gather(*both) == ["ended", "ended"]
    assert world.leases.begun == [(lease.job, RUN)]


async def test_a_worker_without_a_free_place_refuses() -> None:
    first, second = lease_of(1), lease_of(2)
    endless = EndlessJob()
    world = World(first, second, places=1, job_1=endless)
    async with working(world) as worker:
        held = asyncio.create_task(worker.perform(first))
        await endless.begun.wait()
        assert worker.capacity == (1, 1)
        assert await worker.perform(second) == "refused"
        endless.release.set()
        await held
    assert second.token in world.leases.held


async def test_a_cancellation_that_is_heard_stops_the_work_at_once() -> None:
    lease = lease_of()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    async with working(world) as worker:
        held = asyncio.create_task(worker.perform(lease))
        await endless.begun.wait()
        world.leases.take(lease)
        world.notifications.subscription.put(f"cancelled {lease.job}")
        assert await held == "ended"
    assert endless.stopped.is_set()
    assert (world.leases.finished, world.leases.given_back) == ({}, {})


async def test_a_job_cancelled_before_its_first_step_leaves_its_place() -> None:
    lease = lease_of()
    world = World(lease)
    async with working(world) as worker:
        held = asyncio.create_task(worker.perform(lease))
        # After the step that makes the job's task, before that task's own first one.
        asyncio.get_running_loop().call_soon(worker.on_cancelled, lease.job)
        assert await held == "ended"
        assert worker.capacity.taken == 0
    assert (world.leases.begun, world.leases.finished) == ([], {})


async def test_a_cancellation_that_was_missed_is_found_by_asking_which_leases_hold() -> None:
    lost, kept = lease_of(1), lease_of(2)
    first, second = EndlessJob(), EndlessJob()
    world = World(lost, kept, job_1=first, job_2=second)
    async with working(world) as worker:
        held = [asyncio.create_task(worker.perform(lease)) for lease in (lost, kept)]
        await first.begun.wait()
        await second.begun.wait()
        world.leases.take(lost)
        world.notifications.subscription.mark_missed()
        assert await held[0] == "ended"
        second.release.set()
        await held[1]
    assert first.stopped.is_set()
    assert list(world.leases.finished) == [kept.job]


async def test_a_job_whose_lease_was_lost_before_it_began_is_not_begun() -> None:
    lease = lease_of()
    world = World(lease)
    world.leases.take(lease)
    async with working(world) as worker:
        assert await worker.perform(lease) == "ended"
    assert (world.leases.begun, world.leases.finished, world.leases.given_back) == ([], {}, {})


async def test_a_worker_that_nobody_hears_stops_its_work_before_the_lease_is_another_s() -> None:
    lease = lease_of()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    async with working(world) as worker:
        held = asyncio.create_task(worker.perform(lease))
        await endless.begun.wait()
        world.leases.away = True
        world.clock.seconds = 25.0
        worker.on_missed()
        assert await held == "abandoned"
    assert endless.stopped.is_set()


async def test_a_verdict_waits_for_a_database_that_is_away() -> None:
    lease = lease_of()
    endless = EndlessJob()
    world = World(lease, job_1=endless)
    refused = 0

    def tried() -> bool:
        nonlocal refused
        refused += 1
        return refused == 4

    async with working(world) as worker:
        held = asyncio.create_task(worker.perform(lease))
        await endless.begun.wait()
        world.leases.away = True
        endless.release.set()
        await world.leases.until(tried)
        world.leases.away = False
        await held
    assert world.leases.finished[lease.job].state == "done"


async def test_draining_lets_work_end_takes_nothing_new_and_gives_the_rest_back_unblamed() -> None:
    quick, slow, late = lease_of(1), lease_of(2), lease_of(3)
    first, second = EndlessJob(), EndlessJob()
    world = World(quick, slow, late, job_1=first, job_2=second)
    async with working(world) as worker:
        held = [asyncio.create_task(worker.perform(lease)) for lease in (quick, slow)]
        await first.begun.wait()
        await second.begun.wait()
        draining = asyncio.create_task(worker.drain(3_600))
        first.release.set()
        await held[0]
        assert await worker.perform(late) == "refused"
        await worker.drain(0)
        await draining
    assert list(world.leases.finished) == [quick.job]
    why, attempt_failed, seconds = world.leases.given_back[slow.job]
    assert ("told to stop" in why, attempt_failed, seconds > 0) == (True, False, True)


async def test_progress_is_told_as_one_event_of_all_stages_before_the_verdict() -> None:
    lease = lease_of()

    async def script(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {})
        for stage, done in (("search", 1), ("search", 2), ("judge", 1)):
            progress.report(ProgressEvent(RUN, stage, done, 2))
        return DONE

    world = World(lease, job_1=script)
    async with working(world) as worker:
        await worker.perform(lease)
    stages = [{"stage": "search", "done": 2, "total": 2}, {"stage": "judge", "done": 1, "total": 2}]
    assert world.events.appended == [(lease.job, "progress", {"stages": stages})]


async def test_progress_that_cannot_be_told_costs_nothing() -> None:
    lease = lease_of()

    async def script(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {})
        progress.report(ProgressEvent(RUN, "search", 1, 2))
        return DONE

    world = World(lease, job_1=script)
    world.events.away = True
    async with working(world) as worker:
        await worker.perform(lease)
    assert world.leases.finished[lease.job].state == "done"


async def begun_under(before: dict[str, Any] | None, now: dict[str, Any]) -> list[Any]:
    lease = lease_of(pinned=before)

    async def script(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, now)
        return DONE

    world = World(lease, job_1=script)
    async with working(world) as worker:
        await worker.perform(lease)
    return world.events.appended


async def test_a_later_attempt_under_another_request_says_what_changed() -> None:
    told = await begun_under({"prompts": {"a": 1}, "models": ["m"]}, {"prompts": {"a": 2}, "models": ["m"]})
    assert [(kind, data) for _, kind, data in told] == [("repinned", {"changed": ["prompts"]})]


async def test_a_first_attempt_and_one_under_the_same_request_say_nothing() -> None:
    assert await begun_under(None, {"models": ["m"]}) == []
    assert await begun_under({"models": ["m"]}, {"models": ["m"]}) == []
