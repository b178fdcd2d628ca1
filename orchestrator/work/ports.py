"""What the dispatcher and the worker ask of the world. Adapters live in `orchestrator.store` and `cluster`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias
from uuid import UUID

from assayer.models import EvaluationId
from assayer.ports import Progress
from orchestrator.jobs.events import EventKind
from orchestrator.jobs.fairness import Places
from orchestrator.jobs.models import JobId, JobState, JobVerdict, Lease

__all__ = [
    "Accounts",
    "Begun",
    "Capacity",
    "Evaluators",
    "Events",
    "Handed",
    "LeaseLost",
    "Leases",
    "Performer",
    "Spent",
]

Begun: TypeAlias = Callable[[EvaluationId, dict[str, Any]], Awaitable[None]]
"""Names the run of a job, and all that determines its result. Raises LeaseLost: then nothing may be done."""

Handed = Literal["ended", "refused", "abandoned"]
"""What became of a lease in a worker: brought to its end there (whatever end); not taken, for want of a place; given
up because the worker could not reach the database for as long as it may go without."""


class LeaseLost(Exception):
    """Somebody else has the job, or it was cancelled."""


class Capacity(NamedTuple):
    """Of all evaluators together, as far as it is known."""

    places: int
    taken: int
    """Also by jobs that an earlier dispatcher handed out."""


class Spent(NamedTuple):
    """What runs cost, over all their executions."""

    usd: float | None
    """None where a price is not known."""
    prompt_tokens: int


class Leases(Protocol):
    """All raise StorageError. Whoever comes with an old token changes nothing."""

    async def lease(self, worker: str, places: Places) -> list[Lease]: ...

    async def beat(self, tokens: Sequence[UUID]) -> set[UUID]:
        """Those that are still held, for another lease's life from now."""
        ...

    async def begin(self, lease: Lease, run_id: EvaluationId, pinned: Mapping[str, Any]) -> bool:
        """Whether the lease still held."""
        ...

    async def finish(self, lease: Lease, verdict: JobVerdict) -> bool:
        """Whether the lease still held."""
        ...

    async def give_back(self, lease: Lease, why: str, *, blame: bool, after_seconds: float = 0) -> JobState | None:
        """`blame`: the attempt failed. Otherwise, with a pause, something was out of reach; without one, its worker
        died. Tells what the job is now, queued or dead when its tries are used up; None when the lease was lost."""
        ...

    async def expire(self) -> int:
        """Gives back what ran out."""
        ...


class Events(Protocol):
    async def append(
        self, job: JobId, kind: EventKind, data: Mapping[str, Any], lease: UUID | None = None
    ) -> int | None:
        """None when the job has ended or is gone, or is no longer leased so. Raises StorageError."""
        ...


class Accounts(Protocol):
    async def spent(self, runs: Sequence[EvaluationId]) -> Spent: ...


class Performer(Protocol):
    async def perform(self, lease: Lease, progress: Progress, begun: Begun) -> JobVerdict:
        """Does the work; the verdict says nothing of its cost. Calls `begun` once before anything is spent. Raises an
        AssayerError, or what `begun` raised; cancelled, it spends nothing more."""
        ...


class Evaluators(Protocol):
    """Every worker there is, wherever it runs."""

    async def capacity(self) -> Capacity: ...

    async def hand(self, lease: Lease) -> Handed:
        """Returns when the work on it has ended. Raises anything at all when the worker died."""
        ...
