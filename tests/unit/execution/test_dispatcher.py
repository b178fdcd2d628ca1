"""A dispatcher with twins: places are filled, the dead are cleared up after, the database may be away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import StorageError
from orchestrator.execution.dispatcher import Dispatcher, PeriodicTask, pause_after_failures, slots_to_fill
from orchestrator.execution.ports import Capacity, LeaseOutcome
from orchestrator.jobs.models import Lease
from orchestrator.settings import ExecutionSettings
from tests.unit.execution.in_memory_stores import FakeNotifications, FakeWorkerPool, InMemoryLeases, Ticking, lease_of

SETTINGS = ExecutionSettings(poll_seconds=3_600, expire_seconds=3_600, longest_pause_seconds=0.01, interactive_places=0)

counts = st.integers(0, 40)


@given(counts, counts, counts, counts)
def test_places_are_never_given_twice_and_some_are_kept_for_those_who_wait(
    places: int, taken: int, handed: int, interactive: int
) -> None:
    free, only = slots_to_fill(Capacity(places, taken), handed, interactive)
    assert 0 <= only <= free <= places
    assert free + max(taken, handed) <= max(places, taken, handed)
    assert only <= interactive
    if places and free == places:
        assert only < places


@given(st.integers(0, 10_000))
def test_pauses_grow_to_the_longest(failures: int) -> None:
    assert 0 < pause_after_failures(failures, 10.0) <= pause_after_failures(failures + 1, 10.0) <= 10.0


@asynccontextmanager
async def dispatching(
    leases: InMemoryLeases, pool: FakeWorkerPool, notifications: FakeNotifications, *periodic: PeriodicTask
) -> AsyncIterator[Dispatcher]:
    dispatcher = Dispatcher("dispatcher", leases, pool, notifications, SETTINGS, 30, Ticking(), periodic)
    running = asyncio.create_task(dispatcher.run())
    try:
        yield dispatcher
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class RecordingWorker:
    """Takes leases and ends each when told."""

    def __init__(self) -> None:
        self.open: dict[str, asyncio.Future[LeaseOutcome]] = {}
        self.changed = asyncio.Event()

    async def __call__(self, lease: Lease) -> LeaseOutcome:
        self.open[lease.job] = asyncio.get_running_loop().create_future()
        self.changed.set()
        return await self.open[lease.job]

    async def until(self, jobs: int) -> None:
        while len(self.open) < jobs:
            self.changed.clear()
            await self.changed.wait()


async def test_a_place_that_becomes_free_is_filled_at_once() -> None:
    leases, worker, notifications = InMemoryLeases(*map(lease_of, range(3))), RecordingWorker(), FakeNotifications()
    async with dispatching(leases, FakeWorkerPool(2, worker), notifications):
        await worker.until(2)
        assert len(leases.queued) == 1
        worker.open["job_0"].set_result("ended")
        await worker.until(3)
    assert [places.free for places in leases.asked] == [2, 1]


async def test_what_is_queued_is_leased_when_it_is_notified() -> None:
    leases, worker, notifications = InMemoryLeases(), RecordingWorker(), FakeNotifications()
    async with dispatching(leases, FakeWorkerPool(2, worker), notifications):
        await leases.until(lambda: len(leases.asked) == 1)
        leases.queued.append(lease_of())
        notifications.subscription.put("queued")
        await worker.until(1)


async def test_a_lease_whose_evaluator_died_goes_back_at_once_as_a_loss() -> None:
    lease = lease_of()
    leases = InMemoryLeases(lease)

    async def die(_: Lease) -> LeaseOutcome:
        raise RuntimeError("The actor died.")

    async with dispatching(leases, FakeWorkerPool(1, die), FakeNotifications()):
        await leases.until(lambda: lease.job in leases.given_back)
    why, attempt_failed, seconds = leases.given_back[lease.job]
    assert ("The actor died." in why, attempt_failed, seconds) == (True, False, 0)


async def test_a_lease_that_nobody_has_a_place_for_is_offered_until_somebody_takes_it() -> None:
    leases, offers, taken = InMemoryLeases(lease_of()), 0, asyncio.Event()

    async def perform(_: Lease) -> LeaseOutcome:
        nonlocal offers
        offers += 1
        if offers < 3:
            return "refused"
        taken.set()
        return "ended"

    async with dispatching(leases, FakeWorkerPool(1, perform), FakeNotifications()):
        await taken.wait()
    assert leases.given_back == {}


async def test_a_database_that_is_away_is_waited_for() -> None:
    leases, worker = InMemoryLeases(lease_of()), RecordingWorker()
    leases.away = True
    async with dispatching(leases, FakeWorkerPool(1, worker), FakeNotifications()):
        await leases.until(lambda: len(leases.asked) == 3)
        leases.away = False
        await worker.until(1)


async def test_a_periodic_task_that_fails_is_done_again_and_stops_nothing() -> None:
    leases, worker, done = InMemoryLeases(lease_of()), RecordingWorker(), asyncio.Event()
    times = 0

    async def work() -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise StorageError("The database is out of reach.")
        done.set()

    async with dispatching(leases, FakeWorkerPool(1, worker), FakeNotifications(), PeriodicTask("sweep", 0.0, work)):
        await done.wait()
        await worker.until(1)
    assert times >= 2


async def test_a_draining_dispatcher_leases_nothing_more_and_waits_for_what_it_handed_out() -> None:
    leases, worker, notifications = InMemoryLeases(*map(lease_of, range(2))), RecordingWorker(), FakeNotifications()
    async with dispatching(leases, FakeWorkerPool(1, worker), notifications) as dispatcher:
        await worker.until(1)
        dispatcher.stop()
        worker.open["job_0"].set_result("ended")
        await dispatcher.drain(60)
    assert [lease.job for lease in leases.queued] == ["job_1"]
    assert leases.given_back == {}
