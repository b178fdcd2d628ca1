"""Leases as many jobs as there are places, hands them out, and clears up after whoever died."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

from assayer.errors import AssayerError
from assayer.logged import logged
from assayer.ports import Clock
from orchestrator.jobs.fairness import Places
from orchestrator.jobs.models import JobId, Lease
from orchestrator.work.beating import Beating, WhyLost
from orchestrator.work.listening import Hears, heed
from orchestrator.work.ports import Capacity, Evaluators, Handed, Leases
from orchestrator.work.settings import WorkSettings
from orchestrator.work.worker import STOPPING

__all__ = ["Chore", "Dispatcher", "pause_after", "places_to_fill"]

_LOG = logging.getLogger(__name__)
_OFFER_SECONDS = 0.5
"""Between two offers of a job for which no evaluator had a place."""


class Chore(NamedTuple):
    """Something that one dispatcher does for all now and then. Failing, it is soon done again."""

    name: str
    seconds: float
    """From one end to the next start."""
    work: Callable[[], Awaitable[object]]


def places_to_fill(capacity: Capacity, handed: int, interactive: int) -> Places:
    """`handed` counts what this dispatcher waits for, which evaluators may not have noticed yet; `interactive` places
    are kept free for those who wait, as long as one is left for the others."""
    free = max(0, capacity.places - max(capacity.taken, handed))
    return Places(free, min(free, interactive, max(0, capacity.places - 1)))


def pause_after(failures: int, longest: float) -> float:
    """Seconds; doubles with every failure in a row."""
    return float(min(longest, 0.25 * 2 ** min(failures, 20)))


class Dispatcher:
    """`run` it until it is cancelled; any number of them may share the queue."""

    def __init__(
        self,
        name: str,
        leases: Leases,
        evaluators: Evaluators,
        listener: Hears,
        settings: WorkSettings,
        lease_seconds: float,
        clock: Clock,
        chores: Sequence[Chore] = (),
    ) -> None:
        self._name = name
        self._leases = leases
        self._evaluators = evaluators
        self._listener = listener
        self._settings = settings
        self._chores = (Chore("expire leases", settings.expire_seconds, leases.expire), *chores)
        self._beating = Beating(leases, lease_seconds, clock, self._forget)
        self._handed: dict[UUID, asyncio.Task[None]] = {}
        self._lost: set[UUID] = set()
        """Of those: cancelled, or ended by now."""
        self._news = asyncio.Event()
        self._draining = asyncio.Event()

    def queued(self) -> None:
        self._news.set()

    def missed(self) -> None:
        self._news.set()

    def cancelled(self, job: JobId) -> None:
        """Concerns workers."""

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._beating.run())
                group.create_task(self._fill())
                group.create_task(heed(self._listener, self))
                for chore in self._chores:
                    group.create_task(self._repeat(chore))
        finally:
            waiting = list(self._handed.values())
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def stop(self) -> None:
        """Leases nothing more."""
        self._draining.set()
        self._news.set()

    async def drain(self, seconds: float) -> None:
        """Leases nothing more, and waits that long for what was handed out. What it stops waiting for goes on."""
        self.stop()
        if self._handed:
            await asyncio.wait(list(self._handed.values()), timeout=seconds)

    async def _fill(self) -> None:
        failures = 0
        while not self._draining.is_set():
            self._news.clear()
            try:
                await self._lease()
                failures = 0
            except (AssayerError, TimeoutError) as error:
                failures += 1
                _LOG.warning("nothing could be leased: %s", error)
            longest = self._settings.longest_pause_seconds
            await self._wait(pause_after(failures, longest) if failures else self._settings.poll_seconds, not failures)

    async def _lease(self) -> None:
        capacity = await self._evaluators.capacity()
        wanted = places_to_fill(capacity, len(self._handed), self._settings.interactive_places)
        if not wanted.free:
            return
        for lease in await self._leases.lease(self._name, wanted):
            self._beating.add(lease.token)
            task = asyncio.create_task(self._hand(lease), name=f"hand {lease.job}")
            task.add_done_callback(partial(self._release, lease.token))
            self._handed[lease.token] = task

    async def _wait(self, seconds: float, for_news: bool) -> None:
        try:
            async with asyncio.timeout(seconds):
                await (self._news if for_news else self._draining).wait()
        except TimeoutError:
            return

    async def _hand(self, lease: Lease) -> None:
        try:
            with logged(job=lease.job, tenant=lease.tenant):
                await self._see_through(lease)
        except AssayerError as error:
            _LOG.warning("job %s could not be given back, its lease will run out: %s", lease.job, error)

    def _release(self, token: UUID, _: "asyncio.Task[None]") -> None:
        self._beating.drop(token)
        self._lost.discard(token)
        del self._handed[token]
        self._news.set()

    async def _see_through(self, lease: Lease) -> None:
        """Whatever an evaluator dies of comes out here: no error of a job's own does."""
        try:
            handed = await self._place(lease)
        except Exception as error:  # noqa: BLE001 - Ray alone has a dozen ways to say that a process is gone
            _LOG.warning("the evaluator of job %s died: %r", lease.job, error)
            why = f"The process that worked on it died: {type(error).__name__}: {error}."
            await self._leases.give_back(lease, why, blame=False)
            return
        if handed == "refused":
            why = "The dispatcher was told to stop."
            await self._leases.give_back(lease, why, blame=False, after_seconds=STOPPING)
        elif handed == "abandoned":
            why = "Its worker could not reach the database."
            await self._leases.give_back(lease, why, blame=False, after_seconds=STOPPING)

    async def _place(self, lease: Lease) -> Handed:
        """Offers it until somebody takes it: given back instead, it would count as lost once more."""
        while (handed := await self._evaluators.hand(lease)) == "refused" and not self._draining.is_set():
            if lease.token in self._lost:
                return "ended"
            await self._wait(_OFFER_SECONDS, for_news=False)
        return handed

    async def _repeat(self, chore: Chore) -> None:
        while True:
            pause = chore.seconds
            try:
                await chore.work()
            except AssayerError as error:
                _LOG.warning("could not %s: %s", chore.name, error)
                pause = min(pause, self._settings.longest_pause_seconds)
            await asyncio.sleep(pause)

    def _forget(self, token: UUID, _: WhyLost) -> None:
        """The worker that has it finds out by itself, and the call returns when it has."""
        self._lost.add(token)
