"""In-memory implementations of the ports of the worker."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

from assayer.errors import StorageError
from assayer.ideas.parsing import parse_idea
from assayer.models import EvaluationId
from assayer.ports import Progress
from orchestrator.execution.ports import OnRunStarted
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import EventKind, JobId, JobState, JobVerdict, Lease, TenantId
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.store.notifications import Channel, Subscription

IDEA = parse_idea(
    "We count wild bees on transects along hedgerows in farmland over three summers, and compare farms with and "
    "without flower strips, to learn whether nests or nectar limit their number.",
    "bees.txt",
)
RUN = EvaluationId("ev_1")
DONE = JobVerdict(state="succeeded", run_id=RUN)


def make_lease(number: int = 1, attempt: int = 1, pinned: dict[str, Any] | None = None) -> Lease:
    return Lease(
        job=JobId(f"job_{number}"),
        tenant=TenantId("bees"),
        token=uuid4(),
        attempt=attempt,
        priority="batch",
        request=EvaluationRequest(idea=IDEA),
        document=None,
        max_usd=None,
        pinned=pinned,
        submitted_at=dt.datetime(2026, 11, 20, tzinfo=dt.UTC),
    )


class InMemoryLeases:
    """Job queue and its leases. If `is_unreachable`, every call fails as without a database."""

    def __init__(self, *queued: Lease) -> None:
        self.queued = list(queued)
        self.held_leases: dict[UUID, Lease] = {lease.token: lease for lease in queued}
        self.requested_slots: list[FreeSlots] = []
        self.started_runs: list[tuple[JobId, EvaluationId]] = []
        self.finished: dict[JobId, JobVerdict] = {}
        self.given_back: dict[JobId, tuple[str, bool, float]] = {}
        self.renewals = 0
        self.is_unreachable = False
        self.changed = asyncio.Event()
        self.on_acquire: Callable[[], object] = lambda: None

    def put(self, lease: Lease) -> None:
        self.queued.append(lease)
        self.held_leases[lease.token] = lease

    def take(self, lease: Lease) -> None:
        """Simulate the lease being taken by another worker or by a cancellation."""
        self.held_leases.pop(lease.token, None)

    def _require_database(self) -> None:
        if self.is_unreachable:
            raise StorageError("The database is out of reach.")

    def _notify(self) -> None:
        self.changed.set()

    async def until(self, is_reached: Callable[[], bool]) -> None:
        while not is_reached():
            self.changed.clear()
            await self.changed.wait()

    async def acquire(self, worker: str, places: FreeSlots) -> list[Lease]:
        self.requested_slots.append(places)
        self._notify()
        self._require_database()
        self.on_acquire()
        acquired, self.queued = self.queued[: places.free], self.queued[places.free :]
        return acquired

    async def renew(self, tokens: Sequence[UUID]) -> set[UUID]:
        self.renewals += 1
        self._notify()
        self._require_database()
        return {token for token in tokens if token in self.held_leases}

    async def record_run(self, lease: Lease, run_id: EvaluationId, pinned: Mapping[str, Any]) -> bool:
        self._require_database()
        if lease.token in self.held_leases:
            self.started_runs.append((lease.job, run_id))
        return lease.token in self.held_leases

    async def finish(self, lease: Lease, verdict: JobVerdict) -> bool:
        self._notify()
        self._require_database()
        if self.held_leases.pop(lease.token, None) is None:
            return False
        assert lease.job not in self.finished
        self.finished[lease.job] = verdict
        return True

    async def give_back(self, lease: Lease, why: str, *, attempt_failed: bool, after_seconds: float) -> JobState | None:
        self._notify()
        self._require_database()
        if self.held_leases.pop(lease.token, None) is None:
            return None
        self.given_back[lease.job] = (why, attempt_failed, after_seconds)
        return "queued"

    async def expire(self) -> int:
        self._require_database()
        return 0


class InMemoryEvents:
    def __init__(self) -> None:
        self.appended: list[tuple[JobId, EventKind, dict[str, Any]]] = []
        self.is_unreachable = False

    async def append(
        self, job: JobId, kind: EventKind, data: Mapping[str, Any], lease: UUID | None = None
    ) -> int | None:
        if self.is_unreachable:
            raise StorageError("The database is out of reach.")
        self.appended.append((job, kind, dict(data)))
        return len(self.appended)


class FakeNotifications:
    """A source of notifications with one subscription."""

    def __init__(self) -> None:
        self.subscription = Subscription()

    @asynccontextmanager
    async def subscribe(self, channel: Channel) -> AsyncIterator[Subscription]:
        yield self.subscription


Script = Callable[[Lease, Progress, OnRunStarted], Awaitable[JobVerdict]]


class ScriptedPerformer:
    """Performer that runs the script of each job; jobs without a script succeed at once."""

    def __init__(self, scripts: Mapping[JobId, Script] | None = None) -> None:
        self.scripts = scripts or {}

    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        script = self.scripts.get(lease.job, self.succeed_at_once)
        return await script(lease, progress, begun)

    @staticmethod
    async def succeed_at_once(lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {"models": ["twin"]})
        return DONE


class EndlessJob:
    """Job that never ends by itself. It records whether it was stopped."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.stopped = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        await begun(RUN, {"models": ["twin"]})
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise
        return DONE
