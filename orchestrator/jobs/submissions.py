"""What is handed to the queue (jobs, batches and further rows), how far a batch has come, and why the queue refuses."""

import datetime as dt
from collections.abc import Mapping
from typing import NamedTuple

from assayer.errors import AssayerError
from assayer.models import Frozen, Report
from orchestrator.access.roles import MemberId
from orchestrator.batches.rows import RejectedRow
from orchestrator.jobs.models import TERMINAL, BatchId, Job, JobId, JobRequest, JobState, Priority, TenantId

__all__ = [
    "BatchClosed",
    "BatchRow",
    "BatchStatus",
    "Cursor",
    "EvaluationsDeleted",
    "MoreRows",
    "NewBatch",
    "NewJob",
    "QueueFull",
    "count_ended",
    "count_unfinished",
    "ideas_per_hour",
]


class NewJob(Frozen):
    id: JobId
    """Chosen by the caller, so that the same job submitted twice is one."""
    request: JobRequest
    subject: str
    priority: Priority
    document: bytes | None = None
    document_file: str | None = None
    """Where the document lies in place of the job's row, once it has been written there."""
    row: int | None = None
    traceparent: str | None = None
    """Of the request (W3C Trace Context), where it is part of a trace."""
    made_of: tuple[JobId, ...] = ()
    """Evaluations that it holds, or its answer names: it is added only while all of them are there."""


class NewBatch(Frozen):
    id: BatchId
    name: str
    rows: int
    """Of the input, rejected ones included."""
    rejected: tuple[RejectedRow, ...] = ()
    open: bool = False
    """More rows will follow: it has not finished, even when all of its jobs have ended."""
    tags: tuple[str, ...] = ()
    opinions_due: dt.date | None = None
    """The last day for its reviewers."""
    submitted_by: MemberId | None = None
    """Who is told when it has finished; None: a key of nobody's."""


class MoreRows(Frozen):
    """A further part of a batch that was left open."""

    id: BatchId
    first: int
    """The least number that a row of it may have."""
    rows: int
    rejected: tuple[RejectedRow, ...] = ()
    open: bool = False


class BatchClosed(AssayerError):
    """The batch does not take these rows; nothing was added."""

    def __init__(self, batch: str, first: int) -> None:
        super().__init__(
            f"The batch {batch} takes no rows from number {first} on: it is closed, or has rows with such numbers.",
            "The answer to the part before says where the next one begins, and whether the batch is open.",
        )
        self.args = (batch, first)


class EvaluationsDeleted(AssayerError):
    """Some of what the job was made of is not there any more; nothing was added."""

    def __init__(self, deleted: int, of: int) -> None:
        super().__init__(
            f"Meanwhile {deleted:,} of the {of:,} evaluations that it was made of were deleted.",
            "Send it again: it is made of what is there then.",
        )
        self.args = (deleted, of)


class BatchStatus(NewBatch):
    tenant: TenantId
    created_at: dt.datetime
    counts: dict[JobState, int]
    """Jobs in each state; states without jobs are missing. Rejected rows have no job."""
    erased: int
    """Rows that were deleted."""
    cost_usd: float | None
    """Of the jobs that have ended; None where that of one of them is not known."""
    known_cost_usd: float
    """Of those whose cost is known."""
    finished_at: dt.datetime | None
    """When its last job ended."""


class BatchRow(NamedTuple):
    """One job of a batch, with its report if there is one."""

    job: Job
    source: str
    """The sender's name for it."""
    report: Report | None


class Cursor(NamedTuple):
    """A position in a list that begins with the newest."""

    created_at: dt.datetime
    id: str

    @classmethod
    def of(cls, last: Job | BatchStatus) -> "Cursor":
        return cls(last.created_at, last.id)


class QueueFull(AssayerError):
    """The tenant has as many jobs queued as it may; nothing was added."""

    reason = "the queue was full"

    def __init__(self, queued: int, added: int, most: int) -> None:
        super().__init__(
            f"{queued:,} jobs are queued; with {added:,} more there would be more than the limit of {most:,}.",
            "Send them when some have ended." if added <= most else "Send them in smaller parts.",
        )
        self.args = (queued, added, most)
        self.queued, self.added, self.most = queued, added, most


def count_ended(counts: Mapping[JobState, int]) -> int:
    return sum(count for state, count in counts.items() if state in TERMINAL)


def count_unfinished(counts: Mapping[JobState, int]) -> int:
    return sum(count for state, count in counts.items() if state not in TERMINAL)


def ideas_per_hour(
    counts: Mapping[JobState, int], since: dt.datetime, until: dt.datetime, least: int = 1
) -> float | None:
    """Evaluations that came to a report, an hour; None before there are `least`. What was cancelled or failed tells
    nothing: a damaged document fails in a second."""
    done = counts.get("done", 0)
    hours = (until - since).total_seconds() / 3600
    return done / hours if done >= least and hours > 0 else None
