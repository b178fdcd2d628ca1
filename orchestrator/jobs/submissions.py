"""Submissions to the queue (jobs, batches and further rows), errors that reject them, and the progress of a batch."""

import datetime as dt
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from assayer.errors import AssayerError
from assayer.ideas.own_columns import ApplicantRecord
from assayer.models import Frozen, Report
from assayer_client.batches import RowError
from assayer_client.resources import MemberId
from orchestrator.jobs.models import TERMINAL, BatchId, Job, JobId, JobRequest, JobState, Priority, TenantId


class NewJob(Frozen):
    id: JobId
    """Id chosen by the caller, so that submitting the same job twice creates one job."""
    request: JobRequest
    subject: str
    priority: Priority
    document: bytes | None = None
    document_file: str | None = None
    """Location of the document in the document store, once it has been written there instead of to the job's row."""
    row: int | None = None
    traceparent: str | None = None
    """Trace context of the request (W3C Trace Context), if it is part of a trace."""
    applicant: ApplicantRecord = ApplicantRecord()
    """Applicant stated in the proposal's row."""
    required_evaluations: tuple[JobId, ...] = ()
    """Evaluations that the job contains or that its response names. The job is added only if all of them still
    exist."""


class Original(NamedTuple):
    """Document of a job as it was submitted."""

    name: str
    blind: bool
    """True if the proposal is judged in masked form."""


class NewBatch(Frozen):
    id: BatchId
    name: str
    rows: int
    """Number of rows in the input, including rejected rows."""
    rejected: tuple[RowError, ...] = ()
    open: bool = False
    """True if more rows will follow; an open batch is not finished, even when all of its jobs have ended."""
    tags: tuple[str, ...] = ()
    opinions_due: dt.date | None = None
    """Due date of the reviewers' reviews of the batch."""
    submitted_by: MemberId | None = None
    """Member notified when the batch has finished; None if it was submitted with a machine key."""


class MoreRows(Frozen):
    """Further rows for a batch that was left open."""

    id: BatchId
    first: int
    """Lowest row number in this part."""
    rows: int
    rejected: tuple[RowError, ...] = ()
    open: bool = False
    reopen: bool = False
    """True to add the rows even if the batch is closed."""
    replaces: tuple[int, ...] = ()
    """Numbers of rejected rows that these rows replace."""


class BatchClosed(AssayerError):
    """Raised if the batch does not accept these rows; no rows were added."""

    def __init__(self, batch: str, first: int) -> None:
        super().__init__(
            f"The batch {batch} does not accept rows from number {first} on: it is "
            "closed, or already has rows with these numbers.",
            "The response to the previous part states the next row number and whether the batch is open.",
        )
        self.args = (batch, first)


class EvaluationsDeleted(AssayerError):
    """Raised if some of the evaluations on which the job is based no longer exist; the job was not added."""

    def __init__(self, deleted: int, total: int) -> None:
        super().__init__(
            f"{deleted:,} of the {total:,} evaluations on which the request is based "
            f"{'has' if deleted == 1 else 'have'} been deleted.",
            "Send the request again to use the evaluations that still exist.",
        )
        self.args = (deleted, total)


class BatchStatus(NewBatch):
    tenant: TenantId
    created_at: dt.datetime
    counts: dict[JobState, int]
    """Number of jobs in each state; states without jobs are missing. Rejected rows have no job."""
    erased: int
    """Number of deleted rows."""
    cost_usd: float | None
    """Cost of the jobs that have ended; None if the cost of any of them is unknown, or was deleted with its job."""
    known_cost_usd: float
    """Total cost in US dollars of the jobs whose cost is known."""
    finished_at: dt.datetime | None
    """Time at which the batch's last job ended."""
    archived_at: dt.datetime | None = None
    """Time at which the batch was archived, which removes it from the console's list of calls."""


class TitledCall(Protocol):
    """Attributes of a call from which its title is derived."""

    @property
    def name(self) -> str: ...
    @property
    def created_at(self) -> dt.datetime: ...
    @property
    def rows(self) -> int: ...


def format_call_title(call: TitledCall) -> str:
    """Return the name of a call or, if it has none, a description by which people can recognise it. `CALL_TITLE` in the
    store does the same in SQL."""
    proposals = "1 proposal" if call.rows == 1 else f"{call.rows} proposals"
    created_at = call.created_at.astimezone(dt.UTC)
    return call.name or f"Unnamed call of {created_at.day} {created_at:%B %Y}, {proposals}"


class BatchRow(NamedTuple):
    """A job of a batch, with its report if there is one."""

    job: Job
    source: str
    """Sender's name for the proposal."""
    report: Report | None


class Cursor(NamedTuple):
    """A position in a list that is sorted from newest to oldest."""

    created_at: dt.datetime
    id: str

    @classmethod
    def from_item(cls, item: Job | BatchStatus) -> "Cursor":
        return cls(item.created_at, item.id)


class QueueFull(AssayerError):
    """Raised if the tenant has reached its limit of queued jobs; no jobs were added."""

    reason = "the queue was full"

    def __init__(self, queued: int, added: int, limit: int) -> None:
        super().__init__(
            f"{queued:,} jobs are queued; {added:,} more would exceed the limit of {limit:,}.",
            "Send them again when some jobs have ended." if added <= limit else "Send them in smaller parts.",
        )
        self.args = (queued, added, limit)
        self.queued, self.added, self.limit = queued, added, limit


def count_ended(counts: Mapping[JobState, int]) -> int:
    return sum(count for state, count in counts.items() if state in TERMINAL)


def count_unfinished(counts: Mapping[JobState, int]) -> int:
    return sum(count for state, count in counts.items() if state not in TERMINAL)


def compute_ideas_per_hour(
    counts: Mapping[JobState, int], since: dt.datetime, until: dt.datetime, min_succeeded: int = 1
) -> float | None:
    """Return the number of evaluations that succeeded per hour; None if fewer than `min_succeeded` did. Cancelled and
    failed jobs are ignored, because a damaged document, for example, fails within a second."""
    succeeded = counts.get("succeeded", 0)
    hours = (until - since).total_seconds() / 3600
    return succeeded / hours if succeeded >= min_succeeded and hours > 0 else None
