"""The dispatcher: leases as many jobs as there are free slots, passes them to workers, and takes back those of workers
that died."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

from assayer.errors import AssayerError
from assayer.ports import Clock
from assayer.run.context_variables import log_context
from orchestrator.execution.lease_renewal import LeaseLossReason, LeaseRenewal
from orchestrator.execution.ports import Capacity, LeaseOutcome, LeaseStore, WorkerPool
from orchestrator.execution.worker import STOP_PAUSE_SECONDS
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobId, Lease
from orchestrator.settings import ExecutionSettings
from orchestrator.store.notifications import NotificationSource, handle_job_notifications

__all__ = ["Dispatcher", "PeriodicTask", "pause_after_failures", "slots_to_fill"]

_LOG = logging.getLogger(__name__)
_OFFER_SECONDS = 0.5
"""Between two offers of a job for which no worker had a free slot."""


class PeriodicTask(NamedTuple):
    """Housekeeping that a dispatcher repeats. After a failure it is soon tried again."""

    name: str
    seconds: float
    """From one end to the next start."""
    work: Callable[[], Awaitable[object]]


def slots_to_fill(capacity: Capacity, running: int, interactive: int) -> FreeSlots:
    """`running` counts the jobs that this dispatcher waits for, which the workers may not have reported yet;
    `interactive` slots are kept free for interactive jobs, as long as one is left for the others."""
    free = max(0, capacity.places - max(capacity.taken, running))
    return FreeSlots(free, min(free, interactive, max(0, capacity.places - 1)))


def pause_after_failures(failures: int, longest: float) -> float:
    """Seconds; doubles with every failure in a row."""
    return float(min(longest, 0.25 * 2 ** min(failures, 20)))


class Dispatcher:
    """`run` it until it is cancelled; any number of them may share the queue."""

    def __init__(
        self,
        name: str,
        leases: LeaseStore,
        pool: WorkerPool,
        listener: NotificationSource,
        settings: ExecutionSettings,
        lease_seconds: float,
        clock: Clock,
        periodic: Sequence[PeriodicTask] = (),
    ) -> None:
        self._name = name
        self._leases = leases
        self._pool = pool
        self._listener = listener
        self._settings = settings
        self._periodic = (PeriodicTask("expire leases", settings.expire_seconds, leases.expire), *periodic)
        self._renewal = LeaseRenewal(leases, lease_seconds, clock, self._on_lease_lost)
        self._running: dict[UUID, asyncio.Task[None]] = {}
        self._lost: set[UUID] = set()
        """Leases of those that were lost: the job was cancelled, or has ended."""
        self._wake = asyncio.Event()
        self._draining = asyncio.Event()

    def on_queued(self) -> None:
        self._wake.set()

    def on_missed(self) -> None:
        self._wake.set()

    def on_cancelled(self, job: JobId) -> None:
        """Only workers act on it."""

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._renewal.run())
                group.create_task(self._fill_until_drained())
                group.create_task(handle_job_notifications(self._listener, self))
                for task in self._periodic:
                    group.create_task(self._repeat(task))
        finally:
            waiting = list(self._running.values())
            for running in waiting:
                running.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def stop(self) -> None:
        """No more jobs are leased."""
        self._draining.set()
        self._wake.set()

    async def drain(self, seconds: float) -> None:
        """Leases no more jobs, and waits that long for those that run. Those that take longer run on."""
        self.stop()
        if self._running:
            await asyncio.wait(list(self._running.values()), timeout=seconds)

    async def _fill_until_drained(self) -> None:
        failures = 0
        while not self._draining.is_set():
            self._wake.clear()
            try:
                await self._fill_slots()
                failures = 0
            except (AssayerError, TimeoutError) as error:
                failures += 1
                _LOG.warning("nothing could be leased: %s", error)
            longest = self._settings.longest_pause_seconds
            await self._wait(
                pause_after_failures(failures, longest) if failures else self._settings.poll_seconds, not failures
            )

    async def _fill_slots(self) -> None:
        capacity = await self._pool.capacity()
        slots = slots_to_fill(capacity, len(self._running), self._settings.interactive_places)
        if not slots.free:
            return
        for lease in await self._leases.acquire(self._name, slots):
            self._renewal.add(lease.token)
            task = asyncio.create_task(self._run(lease), name=f"run {lease.job}")
            task.add_done_callback(partial(self._release, lease.token))
            self._running[lease.token] = task

    async def _wait(self, seconds: float, for_wake: bool) -> None:
        try:
            async with asyncio.timeout(seconds):
                await (self._wake if for_wake else self._draining).wait()
        except TimeoutError:
            return

    async def _run(self, lease: Lease) -> None:
        try:
            with log_context(job=lease.job, tenant=lease.tenant):
                await self._run_to_end(lease)
        except AssayerError as error:
            _LOG.warning("job %s could not be given back, its lease will run out: %s", lease.job, error)

    def _release(self, token: UUID, _: "asyncio.Task[None]") -> None:
        self._renewal.remove(token)
        self._lost.discard(token)
        del self._running[token]
        self._wake.set()

    async def _run_to_end(self, lease: Lease) -> None:
        """An exception here means that the worker died: a job's own errors end in its verdict."""
        try:
            outcome = await self._offer(lease)
        except Exception as error:  # noqa: BLE001 - Ray alone has a dozen ways to say that a process is gone
            _LOG.warning("the worker of job %s died: %r", lease.job, error)
            why = f"The process that worked on it died: {type(error).__name__}: {error}."
            await self._leases.give_back(lease, why, attempt_failed=False)
            return
        if outcome == "refused":
            why = "The dispatcher was told to stop."
            await self._leases.give_back(lease, why, attempt_failed=False, after_seconds=STOP_PAUSE_SECONDS)
        elif outcome == "abandoned":
            why = "Its worker could not reach the database."
            await self._leases.give_back(lease, why, attempt_failed=False, after_seconds=STOP_PAUSE_SECONDS)

    async def _offer(self, lease: Lease) -> LeaseOutcome:
        """Offers it until a worker takes it: given back instead, it would count as lost once more."""
        while (outcome := await self._pool.perform(lease)) == "refused" and not self._draining.is_set():
            if lease.token in self._lost:
                return "ended"
            await self._wait(_OFFER_SECONDS, for_wake=False)
        return outcome

    async def _repeat(self, task: PeriodicTask) -> None:
        while True:
            pause = task.seconds
            try:
                await task.work()
            except AssayerError as error:
                _LOG.warning("could not %s: %s", task.name, error)
                pause = min(pause, self._settings.longest_pause_seconds)
            await asyncio.sleep(pause)

    def _on_lease_lost(self, token: UUID, _: LeaseLossReason) -> None:
        """The worker that runs it notices by itself, and the call returns then."""
        self._lost.add(token)
