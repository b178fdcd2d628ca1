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
"""Callback that receives the id of the run and everything that determines its result. Raises LeaseLost; the job must
then do no further work."""


class LeaseLost(Exception):
    """Raised if the job was cancelled or leased to another worker."""


class LeaseStore(Protocol):
    """Store of job leases. All methods raise StorageError. Methods that are called with the token of an invalid lease
    change nothing."""

    async def acquire(self, worker: str, slots: FreeSlots) -> list[Lease]: ...

    async def renew(self, tokens: Sequence[UUID]) -> set[UUID]:
        """Renew leases for `lease_seconds` from now, and return the tokens of those that are still held."""
        ...

    async def record_run(self, lease: Lease, run_id: EvaluationId, pinned: Mapping[str, Any]) -> bool:
        """Record a job's run and everything that determines its result. Return True if the lease was still valid."""
        ...

    async def finish(self, lease: Lease, verdict: JobVerdict) -> bool:
        """Store the verdict of a job. Return True if the lease was still valid. The store adds the total cost of all
        runs of the job."""
        ...

    async def give_back(self, lease: Lease, why: str, *, attempt_failed: bool, after_seconds: float) -> JobState | None:
        """Return a job to the queue, and return its new state: queued, or failed if its attempts are used up; None if
        the lease was lost.

        `attempt_failed` is True if the job itself caused the failure, and False if a dependency was unreachable or the
        worker has to stop."""
        ...

    async def expire(self) -> int:
        """Return the jobs with expired leases to the queue, and return their number."""
        ...


class JobEventLog(Protocol):
    async def append(
        self, job: JobId, kind: EventKind, data: Mapping[str, Any], lease: UUID | None = None
    ) -> int | None:
        """Append an event and return its number; None if the job has ended, no longer exists, or its lease was lost.
        Raises StorageError."""
        ...


class NotificationSource(Protocol):
    def subscribe(self, channel: Channel) -> AbstractAsyncContextManager[Subscription]: ...


class JobPerformer(Protocol):
    async def perform(self, lease: Lease, progress: Progress, on_started: OnRunStarted) -> JobVerdict:
        """Run the job and return its verdict, without its cost. Call `on_started` once, before incurring any cost;
        incur no further cost once cancelled. Raises AssayerError, and any exception from `on_started`."""
        ...
