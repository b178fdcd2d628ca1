"""Works on leased jobs, each to its verdict, whatever happens to the others, to the dispatcher or to the database."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from assayer.errors import AssayerError, Defect, StorageError
from assayer.logged import logged
from assayer.models import EvaluationId
from assayer.ports import Clock
from orchestrator.jobs.models import JobId, JobVerdict, Lease
from orchestrator.jobs.outcomes import Again, after
from orchestrator.work.beating import Beating, WhyLost
from orchestrator.work.listening import Hears, heed
from orchestrator.work.metrics import ATTEMPTS, IN_WORK, SECONDS, count_fault
from orchestrator.work.ports import Accounts, Capacity, Events, Handed, LeaseLost, Leases, Performer
from orchestrator.work.progress import Steps
from orchestrator.work.settings import WorkSettings

__all__ = ["STOPPING", "Worker"]

_LOG = logging.getLogger(__name__)
_CANCELLING_SECONDS = 10.0
"""Cancelled work ends at the next await; longer is a defect, and not waited for."""

STOPPING = 0.5
"""Seconds before a job whose process is told to stop may be begun elsewhere: a pause says that nothing was lost."""
_TELLING_SECONDS = 5.0
"""For one event to be written."""

T = TypeVar("T")


@dataclass
class _Held:
    """A job in work."""

    lease: Lease
    steps: Steps = field(default_factory=Steps)
    runs: list[EvaluationId] = field(default_factory=list)
    """Known once it has begun."""
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while an event is written, so that none comes after the verdict."""
    ended: Handed = "ended"
    task: "asyncio.Task[None] | None" = None


class Worker:
    """At most `places` jobs at once, all in one event loop, in which `run` has to run for as long as it works."""

    def __init__(
        self,
        name: str,
        places: int,
        performer: Performer,
        leases: Leases,
        events: Events,
        accounts: Accounts,
        listener: Hears,
        settings: WorkSettings,
        lease_seconds: float,
        clock: Clock,
    ) -> None:
        self.name = name
        self._places = places
        self._performer = performer
        self._leases = leases
        self._events = events
        self._accounts = accounts
        self._listener = listener
        self._settings = settings
        self._held: dict[UUID, _Held] = {}
        self._beating = Beating(leases, lease_seconds, clock, self._lost)
        self._draining = False

    async def run(self) -> None:
        """Until it is cancelled; then what is still in hand ends as if the process had died. `drain` first."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._beating.run())
                group.create_task(self._tell())
                group.create_task(heed(self._listener, self))
        finally:
            await self._cancel(list(self._held.values()))

    @property
    def capacity(self) -> Capacity:
        return Capacity(0 if self._draining else self._places, len(self._held))

    async def perform(self, lease: Lease) -> Handed:
        """Returns when the work on the lease has ended. A caller that goes away does not stop it; the same lease
        handed over again is the same work."""
        held = self._held.get(lease.token)
        if held is None:
            if self._draining or len(self._held) >= self._places:
                return "refused"
            held = self._held[lease.token] = _Held(lease)
            self._beating.add(lease.token)
            held.task = asyncio.create_task(self._work(held), name=f"job {lease.job}")
            # Not in the task: cancelled before its first step, it would run nothing of itself.
            held.task.add_done_callback(partial(self._release, held))
        if held.task is not None:
            await asyncio.wait((held.task,))  # neither cancels the task nor raises what it ended with
        return held.ended

    def cancelled(self, job: JobId) -> None:
        """Stops the work on a job whose row says already that it is cancelled."""
        for token, held in self._held.items():
            if held.lease.job == job:
                self._lost(token, "taken")

    def missed(self) -> None:
        """Asks at once which leases still hold: a cancellation may have gone unheard."""
        self._beating.soon()

    def queued(self) -> None:
        """Concerns dispatchers."""

    async def drain(self, seconds: float) -> None:
        """Takes nothing more, lets what is in hand end within that time, and gives the rest back into the queue."""
        self._draining = True
        tasks = [held.task for held in self._held.values() if held.task is not None]
        if tasks and seconds > 0:
            await asyncio.wait(tasks, timeout=seconds)
        left = list(self._held.values())
        await self._cancel(left)
        await asyncio.gather(*(self._hand_back(held.lease) for held in left))

    async def _cancel(self, those: list[_Held]) -> None:
        tasks = [held.task for held in those if held.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCELLING_SECONDS)

    async def _hand_back(self, lease: Lease) -> None:
        try:
            async with asyncio.timeout(_CANCELLING_SECONDS):
                await self._leases.give_back(lease, "Its worker was told to stop.", blame=False, after_seconds=STOPPING)
        except (AssayerError, TimeoutError) as error:
            _LOG.warning("job %s could not be given back, its lease will run out: %s", lease.job, error)

    def _lost(self, token: UUID, why: WhyLost) -> None:
        held = self._held.get(token)
        if held is None or held.task is None:
            return
        if why == "silent":
            held.ended = "abandoned"
        _LOG.info("job %s is no longer ours (%s)", held.lease.job, why)
        held.task.cancel()

    async def _work(self, held: _Held) -> None:
        kind = held.lease.work.kind
        with logged(job=held.lease.job, tenant=held.lease.tenant), IN_WORK.track_inprogress():
            ended = "stopped"
            try:
                with SECONDS.labels(kind).time():
                    ended = await self._brought_to_an_end(held)
            finally:
                ATTEMPTS.labels(kind, ended).inc()

    async def _brought_to_an_end(self, held: _Held) -> str:
        try:
            outcome = await self._attempt(held)
            # The lease needs no more signs of life; should it run out now, the verdict is refused.
            self._beating.drop(held.lease.token)
            await self._say(held)
            await self._settle(held, outcome)
        except LeaseLost:
            _LOG.info("job %s is no longer ours", held.lease.job)
            return "stopped"
        return "again" if isinstance(outcome, Again) else outcome.state

    def _release(self, held: _Held, task: "asyncio.Task[None]") -> None:
        self._beating.drop(held.lease.token)
        del self._held[held.lease.token]
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("job %s could not be settled, its lease will run out", held.lease.job, exc_info=error)

    async def _attempt(self, held: _Held) -> JobVerdict | Again:
        try:
            return await self._perform(held)
        except AssayerError as error:
            count_fault(error)
            outcome = after(error, held.lease.attempt)
        if isinstance(outcome, Again):
            return outcome
        return JobVerdict(state="failed", run_id=held.runs[-1] if held.runs else None, problem=outcome)

    async def _perform(self, held: _Held) -> JobVerdict:
        try:
            return await self._performer.perform(held.lease, held.steps, partial(self._begin, held))
        except (AssayerError, LeaseLost):
            raise
        except Exception as error:  # the one place where a defect of ours becomes one job's failure
            _LOG.exception("job %s", held.lease.job)
            message = f"assayer failed on this job: {type(error).__name__}: {error}."
            raise Defect(message, "Please report it.") from error

    async def _begin(self, held: _Held, run: EvaluationId, pinned: dict[str, Any]) -> None:
        before = held.lease.pinned
        if not await self._leases.begin(held.lease, run, pinned):
            raise LeaseLost
        held.runs.append(run)
        _LOG.info("job %s begins: run %s, attempt %d", held.lease.job, run, held.lease.attempt)
        if before is not None and before != pinned:
            changed = sorted(key for key in before.keys() | pinned.keys() if before.get(key) != pinned.get(key))
            await self._events.append(held.lease.job, "repinned", {"changed": changed}, held.lease.token)

    async def _settle(self, held: _Held, outcome: JobVerdict | Again) -> None:
        """Tried again while the database is away: what was worked out must not be lost for that."""
        lease = held.lease
        if isinstance(outcome, Again):
            back = partial(
                self._leases.give_back, lease, outcome.why, blame=outcome.blame, after_seconds=outcome.seconds
            )
            state = await self._stored(back)
            # What went wrong in the attempt itself may quote the idea; the job's own events tell it.
            why = "the attempt failed" if outcome.blame else outcome.why
            _LOG.info("job %s goes back (%s): %s", lease.job, state or "no longer ours", why)
            return
        spent = await self._stored(partial(self._accounts.spent, held.runs))
        verdict = outcome.model_copy(update={"cost_usd": spent.usd, "prompt_tokens": spent.prompt_tokens})
        if not await self._stored(partial(self._leases.finish, lease, verdict)):
            _LOG.warning("the verdict on job %s was refused: it is no longer ours", lease.job)
            return
        _LOG.info("job %s is %s", lease.job, verdict.state)

    async def _stored(self, write: Callable[[], Awaitable[T]]) -> T:
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(StorageError),
            wait=wait_random_exponential(multiplier=0.1, max=self._settings.longest_pause_seconds),
            stop=stop_after_delay(self._settings.settling_seconds),
            reraise=True,
        )
        return await retrying(write)

    async def _tell(self) -> None:
        """Writes down how far the jobs are, until it is cancelled."""
        while True:
            await asyncio.sleep(self._settings.progress_seconds)
            for held in list(self._held.values()):
                await self._say(held)

    async def _say(self, held: _Held) -> None:
        """A progress event that does not get through is not worth a job: the next one holds all it said."""
        async with held.telling:
            if (said := held.steps.take()) is None:
                return
            try:
                async with asyncio.timeout(_TELLING_SECONDS):
                    await self._events.append(held.lease.job, "progress", said, held.lease.token)
            except (AssayerError, TimeoutError) as error:
                held.steps.untold()
                _LOG.warning("the progress of job %s could not be written: %s", held.lease.job, error)
