"""Ports of the worker. Adapters are in `orchestrator.store` and `cluster`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from assayer.models import EvaluationId
from assayer.ports import Progress
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import EventKind, JobId, JobState, JobVerdict, Lease
from orchestrator.store.notifications import Channel, Subscription

OnRunStarted: TypeAlias = Callable[[EvaluationId, dict[str, Any]], Awaitable[None]]
"""Callback invoked with the run's id and everything that determines the result. Raises LeaseLost, after which no work
is allowed."""


class LeaseLost(Exception):
    """Raised when the job was leased to another worker, or cancelled."""


class LeaseStore(Protocol):
    """Store of job leases. All methods raise StorageError; with the token of a lease that is no longer valid they
    change nothing."""

    async def acquire(self, worker: str, slots: FreeSlots) -> list[Lease]: ...

    async def renew(self, tokens: Sequence[UUID]) -> set[UUID]:
        """Renew leases and return the tokens of the leases that are still held, extended by another `lease_seconds`
        from now."""
        ...

    async def record_run(self, lease: Lease, run_id: EvaluationId, pinned: Mapping[str, Any]) -> bool:
        """Record the run of a job; return True if the lease was still valid."""
        ...

    async def finish(self, lease: Lease, verdict: JobVerdict) -> bool:
        """Store the verdict of a job; return True if the lease was still valid. The store knows the total cost of the
        job over all its runs."""
        ...

    async def give_back(
        self, lease: Lease, why: str, *, attempt_failed: bool, after_seconds: float = 0
    ) -> JobState | None:
        """Return a job to the queue. With `attempt_failed` the job itself is at fault; otherwise, a pause
        (`after_seconds`) means that a dependency was unreachable, and no pause means that the worker died. Returns the
        job's new state (queued, or failed if its attempts are used up), or None if the lease was lost."""
        ...

    async def expire(self) -> int:
        """Return the jobs with expired leases to the queue, and return how many there were."""
        ...


class JobEventLog(Protocol):
    async def append(
        self, job: JobId, kind: EventKind, data: Mapping[str, Any], lease: UUID | None = None
    ) -> int | None:
        """Append an event and return its number; None if the job has ended or is gone, or the lease was lost.
        Raises StorageError."""
        ...


class NotificationSource(Protocol):
    def subscribe(self, channel: Channel) -> AbstractAsyncContextManager[Subscription]: ...


class JobPerformer(Protocol):
    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        """Run the job and return its verdict, without its cost. Calls `begun` once, before anything is spent. Raises an
        AssayerError, or any exception from `begun`. Spends nothing more once cancelled."""
        ...
