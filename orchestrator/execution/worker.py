"""Worker that leases jobs from the queue and runs each job to its verdict, even if other jobs or the database fail."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from assayer.errors import AssayerError, Defect, StorageError, error_text
from assayer.models import EvaluationId
from assayer.run.context_variables import log_context
from orchestrator.execution.job_progress import JobProgress
from orchestrator.execution.lease_renewal import LeaseRenewal
from orchestrator.execution.metrics import ATTEMPT_SECONDS, ATTEMPTS, RUNNING_JOBS, count_error
from orchestrator.execution.ports import JobEventLog, JobPerformer, LeaseLost, LeaseStore, NotificationSource
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.jobs.retry_policy import Retry, decide_after_error
from orchestrator.settings import ExecutionSettings
from orchestrator.store.notifications import NotificationsMissed

_LOG = logging.getLogger(__name__)
_CANCEL_TIMEOUT_SECONDS = 10.0
"""Maximum seconds to wait for cancelled work, which should end at its next await. Work that takes longer is defective,
and the worker stops waiting for it."""

_STOPPED_JOB_PAUSE_SECONDS = 0.5
"""Seconds before a job that a stopping process returns to the queue can start elsewhere. A pause above zero prevents
the return from being counted as a lost worker."""
_EVENT_TIMEOUT_SECONDS = 5.0
"""Timeout in seconds for writing one event."""
_MAX_STORE_RETRY_SECONDS = 600.0
"""Seconds for which storing the outcome of a job is retried while the database is unreachable. After that, the job is
run again."""
_NOTIFICATION_TIMEOUT_SECONDS = 60.0
"""Timeout in seconds of a wait for a notification. The value does not matter, because the wait is repeated."""

T = TypeVar("T")


@dataclass
class _RunningJob:
    """Job running in this process."""

    lease: Lease
    progress: JobProgress = field(default_factory=JobProgress)
    run_id: EvaluationId | None = None
    """Id of the run; None until it has started."""
    event_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Lock that is held while an event is written, so that the verdict is not stored before an event in progress."""
    task: "asyncio.Task[None] | None" = None


@dataclass(eq=False)
class Worker:
    """Worker that leases jobs from the queue whenever it has a free slot, and runs at most `max_jobs` jobs
    concurrently.

    Any number of workers can share the queue; the store decides which worker gets which job."""

    name: str
    max_jobs: int
    performer: JobPerformer
    leases: LeaseStore
    events: JobEventLog
    listener: NotificationSource
    settings: ExecutionSettings
    lease_seconds: float
    batch_only: bool = False
    """True if the worker leases no interactive jobs and reserves no slots for them."""
    overnight_only: bool = False
    """True if the worker leases only overnight jobs, which no other worker leases."""

    def __post_init__(self) -> None:
        self._jobs: dict[UUID, _RunningJob] = {}
        self._renewal = LeaseRenewal(self.leases, self.lease_seconds, self._stop_lost_job)
        self._lease_lock = asyncio.Lock()
        self._wake = asyncio.Event()
        self._draining = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled. Jobs that are still running are then treated as if the process had died; call `drain`
        first to avoid this."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._renewal.run())
                group.create_task(self._report_progress())
                group.create_task(self._lease_until_drained())
                group.create_task(self._handle_notifications())
        finally:
            await self._cancel_jobs(list(self._jobs.values()))

    @property
    def running_count(self) -> int:
        """Number of jobs running in this process."""
        return len(self._jobs)

    @property
    def tokens(self) -> frozenset[UUID]:
        """Lease tokens of the jobs running in this process."""
        return frozenset(self._jobs)

    async def _handle_notifications(self) -> None:
        async with self.listener.subscribe("assayer_jobs") as notifications:
            while True:
                payload = await notifications.next(_NOTIFICATION_TIMEOUT_SECONDS)
                if isinstance(payload, NotificationsMissed):
                    # A cancellation may have been missed. The renewal shows which leases are still valid.
                    self._renewal.request_renewal()
                    self._wake.set()
                elif payload == "queued":
                    self._wake.set()
                elif payload is not None and payload.startswith("cancelled "):
                    self.stop_job(payload.removeprefix("cancelled "))

    def stop_job(self, job_id: str) -> None:
        """Stop the work on a job that is already marked as cancelled in the database."""
        for token, running_job in self._jobs.items():
            if running_job.lease.job == job_id:
                self._stop_lost_job(token)

    async def drain(self, seconds: float) -> None:
        """Stop leasing jobs, wait up to `seconds` for running jobs, then return unfinished ones to the queue."""
        self._draining.set()
        self._wake.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CANCEL_TIMEOUT_SECONDS), self._lease_lock:
                pass  # the lock is free: jobs that were being leased are now registered
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        if tasks and seconds > 0:
            await asyncio.wait(tasks, timeout=seconds)
        running_jobs = list(self._jobs.values())
        await self._cancel_jobs(running_jobs)
        await asyncio.gather(*(self._return_to_queue(job.lease) for job in running_jobs))

    async def _lease_until_drained(self) -> None:
        failures = 0
        while not self._draining.is_set():
            self._wake.clear()
            try:
                while await self._lease_jobs():
                    continue
                failures = 0
            except (AssayerError, TimeoutError) as error:
                failures += 1
                _LOG.warning("could not lease jobs: %s", error_text(error))
            if failures:
                pause_seconds, event = (
                    compute_pause_seconds(failures, self.settings.longest_pause_seconds),
                    self._draining,
                )
            else:
                pause_seconds, event = self.settings.poll_seconds, self._wake
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_seconds):
                    await event.wait()

    async def _lease_jobs(self) -> bool:
        """Lease jobs for some of the free slots. Return True if there may be more jobs for the remaining slots."""
        async with self._lease_lock:
            slots = self._compute_free_slots()
            if self._draining.is_set() or not slots.free:
                return False
            leases = await self.leases.acquire(self.name, slots)
            for lease in leases:
                self._start_job(lease)
            return len(leases) == slots.free

    def _compute_free_slots(self) -> FreeSlots:
        reserved_slots = self.settings.interactive_places
        return compute_slots_to_request(
            self.max_jobs, len(self._jobs), reserved_slots, self.batch_only, self.overnight_only
        )

    def _start_job(self, lease: Lease) -> None:
        job = self._jobs[lease.token] = _RunningJob(lease)
        self._renewal.add(lease.token)
        job.task = asyncio.create_task(self._run_job(job), name=f"job {lease.job}")
        # The job is released in a callback: a task that is cancelled before its first step never runs its own code.
        job.task.add_done_callback(partial(self._release_job, job))

    async def _cancel_jobs(self, jobs: list[_RunningJob]) -> None:
        tasks = [job.task for job in jobs if job.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCEL_TIMEOUT_SECONDS)

    async def _return_to_queue(self, lease: Lease) -> None:
        try:
            async with asyncio.timeout(_CANCEL_TIMEOUT_SECONDS):
                await self.leases.give_back(
                    lease, "Its worker was stopped.", attempt_failed=False, after_seconds=_STOPPED_JOB_PAUSE_SECONDS
                )
        except (AssayerError, TimeoutError) as error:
            _LOG.warning(
                "could not return job %s to the queue; its lease will expire: %s", lease.job, error_text(error)
            )

    def _stop_lost_job(self, token: UUID) -> None:
        job = self._jobs.get(token)
        if job is None or job.task is None:
            return
        _LOG.info("the lease of job %s was lost", job.lease.job)
        job.task.cancel()

    async def _run_job(self, job: _RunningJob) -> None:
        kind = job.lease.request.kind
        with log_context(job=job.lease.job, tenant=job.lease.tenant), RUNNING_JOBS.track_inprogress():
            outcome_name = "stopped"
            try:
                with ATTEMPT_SECONDS.labels(kind).time():
                    outcome_name = await self._run_to_verdict(job)
            finally:
                ATTEMPTS.labels(kind, outcome_name).inc()

    async def _run_to_verdict(self, job: _RunningJob) -> str:
        try:
            outcome = await self._attempt_job(job)
            # The lease is no longer renewed. If it expires now, the verdict is rejected.
            self._renewal.remove(job.lease.token)
            await self._append_progress(job)
            await self._store_outcome(job, outcome)
        except LeaseLost:
            _LOG.info("the lease of job %s was lost", job.lease.job)
            return "stopped"
        return "again" if isinstance(outcome, Retry) else outcome.state

    def _release_job(self, job: _RunningJob, task: "asyncio.Task[None]") -> None:
        self._renewal.remove(job.lease.token)
        del self._jobs[job.lease.token]
        self._wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("could not store the outcome of job %s; its lease will expire", job.lease.job, exc_info=error)

    async def _attempt_job(self, job: _RunningJob) -> JobVerdict | Retry:
        try:
            return await self._perform_job(job)
        except AssayerError as error:
            count_error(error)
            outcome = decide_after_error(error, job.lease.attempt)
        if isinstance(outcome, Retry):
            return outcome
        return JobVerdict(state="failed", run_id=job.run_id, problem=outcome)

    async def _perform_job(self, job: _RunningJob) -> JobVerdict:
        try:
            return await self.performer.perform(job.lease, job.progress, partial(self._record_start, job))
        except (AssayerError, LeaseLost):
            raise
        except Exception as error:  # only here, so that a defect in the program fails a single job
            _LOG.exception("job %s", job.lease.job)
            message = f"Internal error in this job: {type(error).__name__}: {error}."
            raise Defect(message, "Please report it.") from error

    async def _record_start(self, job: _RunningJob, run_id: EvaluationId, pinned: dict[str, Any]) -> None:
        earlier_pinned = job.lease.pinned
        if not await self.leases.record_run(job.lease, run_id, pinned):
            raise LeaseLost
        job.run_id = run_id
        _LOG.info("job %s starts: run %s, attempt %d", job.lease.job, run_id, job.lease.attempt)
        if earlier_pinned is not None and earlier_pinned != pinned:
            changed_keys = sorted(
                key for key in earlier_pinned.keys() | pinned.keys() if earlier_pinned.get(key) != pinned.get(key)
            )
            await self.events.append(job.lease.job, "repinned", {"changed": changed_keys}, job.lease.token)

    async def _store_outcome(self, job: _RunningJob, outcome: JobVerdict | Retry) -> None:
        """Store the outcome of a job. While the database is unreachable, this is retried, so that a finished result is
        not lost."""
        lease = job.lease
        if isinstance(outcome, Retry):
            give_back = partial(self.leases.give_back, lease, outcome.reason, attempt_failed=outcome.attempt_failed)
            state = await self._retry_until_stored(partial(give_back, after_seconds=outcome.seconds))
            # The reason for a failed attempt may quote the idea, so it appears only in the events of the job.
            reason = "the attempt failed" if outcome.attempt_failed else outcome.reason
            _LOG.info("job %s returns to the queue (%s): %s", lease.job, state or "the lease was lost", reason)
            return
        if not await self._retry_until_stored(partial(self.leases.finish, lease, outcome)):
            _LOG.warning("the verdict of job %s was rejected because its lease was lost", lease.job)
            return
        _LOG.info("job %s: %s", lease.job, outcome.state)

    async def _retry_until_stored(self, write: Callable[[], Awaitable[T]]) -> T:
        retry = AsyncRetrying(
            retry=retry_if_exception_type(StorageError),
            wait=wait_random_exponential(multiplier=0.1, max=self.settings.longest_pause_seconds),
            stop=stop_after_delay(_MAX_STORE_RETRY_SECONDS),
            reraise=True,
        )
        return await retry(write)

    async def _report_progress(self) -> None:
        """Write progress events periodically until cancelled."""
        while True:
            await asyncio.sleep(self.settings.progress_seconds)
            for job in list(self._jobs.values()):
                await self._append_progress(job)

    async def _append_progress(self, job: _RunningJob) -> None:
        """Append a progress event, if there is progress. If the event cannot be stored, the job continues, and the next
        event repeats its content."""
        async with job.event_lock:
            if (changes := job.progress.take_changes()) is None:
                return
            try:
                async with asyncio.timeout(_EVENT_TIMEOUT_SECONDS):
                    await self.events.append(job.lease.job, "progress", changes, job.lease.token)
            except (AssayerError, TimeoutError) as error:
                job.progress.mark_unsaved()
                _LOG.warning("could not write the progress of job %s: %s", job.lease.job, error_text(error))


def compute_slots_to_request(
    total: int, used: int, reserved: int, batch_only: bool = False, overnight_only: bool = False
) -> FreeSlots:
    """Return the slots to request: half of the free slots, rounded up. Workers that wake up at the same time then
    share the waiting jobs, and each requests more immediately. `reserved` is the number of slots that are kept free for
    interactive jobs, as long as at least one slot remains for other jobs."""
    free = max(0, total - used)
    if batch_only or overnight_only:
        return FreeSlots((free + 1) // 2, batch_only=batch_only, overnight_only=overnight_only)
    free_for_batch = free - min(free, reserved, max(0, total - 1))
    requested = (free + 1) // 2
    return FreeSlots(requested, requested - min(requested, free_for_batch))


def compute_pause_seconds(failures: int, max_seconds: float) -> float:
    """Return the pause in seconds after consecutive failures. It doubles with each failure, up to `max_seconds`."""
    return float(min(max_seconds, 0.25 * 2 ** min(failures, 20)))
