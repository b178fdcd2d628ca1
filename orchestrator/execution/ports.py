"""Ports of the worker. Adapters are in `orchestrator.store` and `cluster`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from assayer.models import EvaluationId
from assayer.ports import Progress
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import EventKind, JobId, JobState, JobVerdict, Lease

__all__ = [
    "JobEventLog",
    "JobPerformer",
    "LeaseLost",
    "LeaseStore",
    "OnRunStarted",
]

OnRunStarted: TypeAlias = Callable[[EvaluationId, dict[str, Any]], Awaitable[None]]
"""Called with the run's id and all that determines the result. Raises LeaseLost: then no work may be done."""


class LeaseLost(Exception):
    """The job was leased to somebody else, or cancelled."""


class LeaseStore(Protocol):
    """All methods raise StorageError. With the token of a lease that no longer holds they change nothing."""

    async def acquire(self, worker: str, slots: FreeSlots) -> list[Lease]: ...

    async def renew(self, tokens: Sequence[UUID]) -> set[UUID]:
        """Those that still hold, extended by another `lease_seconds` from now."""
        ...

    async def record_run(self, lease: Lease, run_id: EvaluationId, pinned: Mapping[str, Any]) -> bool:
        """Whether the lease still held."""
        ...

    async def finish(self, lease: Lease, verdict: JobVerdict) -> bool:
        """Whether the lease still held. The store knows what the job cost, in all its runs."""
        ...

    async def give_back(
        self, lease: Lease, why: str, *, attempt_failed: bool, after_seconds: float = 0
    ) -> JobState | None:
        """`attempt_failed`: the job itself is at fault. Otherwise, with a pause, something was out of reach; without
        one, its worker died. The job's new state: queued, or dead when its attempts are used up. None: the lease was
        lost."""
        ...

    async def expire(self) -> int:
        """Gives back the jobs whose leases have expired; how many they were."""
        ...


class JobEventLog(Protocol):
    async def append(
        self, job: JobId, kind: EventKind, data: Mapping[str, Any], lease: UUID | None = None
    ) -> int | None:
        """The event's number; None when the job has ended or is gone, or the lease was lost. Raises StorageError."""
        ...


class JobPerformer(Protocol):
    async def perform(self, lease: Lease, progress: Progress, begun: OnRunStarted) -> JobVerdict:
        """Does the work; the verdict leaves out its cost. Calls `begun` once, before anything is spent. Raises an
        AssayerError, or what `begun` raised. Once cancelled it spends nothing more."""
        ...
