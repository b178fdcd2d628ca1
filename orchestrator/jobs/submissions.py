"""What is handed to the queue, and batches as they stand."""

import datetime as dt
from typing import NamedTuple

from assayer.errors import AssayerError
from assayer.models import Frozen, Report
from orchestrator.batches.rows import RejectedRow
from orchestrator.jobs.models import BatchId, Job, JobId, JobState, Priority, TenantId, Work

__all__ = ["Batch", "BatchClosed", "BatchRow", "Cursor", "MoreRows", "NewBatch", "NewJob"]


class NewJob(Frozen):
    id: JobId
    """Drawn by the caller, so that the same job sent twice is one."""
    work: Work
    subject: str
    priority: Priority
    document: bytes | None = None
    row: int | None = None
    traceparent: str | None = None
    """Of the request (W3C Trace Context), if it was part of a trace."""


class NewBatch(Frozen):
    id: BatchId
    name: str
    rows: int
    """Of the input, rejected ones included."""
    rejected: tuple[RejectedRow, ...] = ()
    open: bool = False
    """More rows are to come: it has not finished, however many of its jobs have ended."""


class MoreRows(Frozen):
    """A further part of a batch that was left open."""

    id: BatchId
    first: int
    """The least number that a row of it may have."""
    rows: int
    rejected: tuple[RejectedRow, ...] = ()
    open: bool = False


class BatchClosed(AssayerError):
    """The batch takes no such rows; nothing was added."""

    def __init__(self, batch: str, first: int) -> None:
        super().__init__(
            f"The batch {batch} takes no rows from number {first} on: it is closed, or has rows with such numbers.",
            "What was sent last said where the next part begins, and whether the batch stays open.",
        )
        self.args = (batch, first)


class Batch(NewBatch):
    tenant: TenantId
    created_at: dt.datetime
    counts: dict[JobState, int]
    """Jobs in each state; states without a job are missing. Rows that were rejected are no jobs."""
    cost_usd: float
    """Of the jobs that have ended, as far as known."""
    finished_at: dt.datetime | None
    """When its last job ended."""


class BatchRow(NamedTuple):
    """One job of a batch, and what it came to."""

    job: Job
    source: str
    """What its sender calls it."""
    report: Report | None


class Cursor(NamedTuple):
    """A place in a list that begins with the newest."""

    created_at: dt.datetime
    id: str

    @classmethod
    def of(cls, last: Job | Batch) -> "Cursor":
        return cls(last.created_at, last.id)
