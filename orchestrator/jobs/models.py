"""Records of the service: jobs and their events, leases, verdicts, problems, and the types of their ids."""

import datetime as dt
from typing import Any, Literal, NewType, TypeAlias
from uuid import UUID

from assayer.models import EvaluationId, FlagKind, Frozen
from assayer_client.accounts import TenantPlan
from assayer_client.resources import (
    TERMINAL,
    BatchId,
    JobId,
    JobKind,
    JobState,
    LivePriority,
    Priority,
    Problem,
    TenantId,
)
from orchestrator.jobs.requests import JobRequest

KeyId = NewType("KeyId", str)

ResourceKind = Literal[JobKind, "batch"]
"""Kinds of resources that a tenant submits and deletes."""

EventKind: TypeAlias = Literal[
    "queued", "started", "progress", "retried", "repinned", "succeeded", "failed", "cancelled"
]
"""Kinds of job events. retried: returned to the queue; repinned: started again with other settings. The last three are
final."""


class Job(Frozen):
    """A job of the queue."""

    id: JobId
    tenant: TenantId
    batch: BatchId | None
    row: int | None
    """Row number in the batch's input, from 1."""
    kind: JobKind
    priority: Priority
    state: JobState
    subject: str
    """Title shown in lists: the idea's title, or `12 ideas`."""
    source: str = ""
    """Sender's name for the job, at most 300 characters; empty if there is none."""
    flags: tuple[FlagKind, ...] = ()
    """Suspicious features of the job's texts; for a document, they are known only once it has been read."""
    attempt: int
    """Number of times the job was started."""
    run_id: EvaluationId | None
    """Id of everything that determines the result; None until the job has started."""
    problem: Problem | None
    cost_usd: float | None
    """Total amount paid for the job in US dollars; None while unknown."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None


class Lease(Frozen):
    """Exclusive right to run a job, valid until the job is leased again."""

    job: JobId
    tenant: TenantId
    token: UUID
    """Token issued each time the job is leased; writes with an older token are refused."""
    attempt: int
    priority: Priority
    request: JobRequest
    document: bytes | None
    """PDF with the idea, if neither the request nor a file holds it."""
    document_file: str | None = None
    """Name of the PDF in the document store."""
    max_usd: float | None
    """Maximum cost of all attempts of this job together: the lesser of the request's limit and the tenant's
    remaining budget."""
    paid_usd: float = 0.0
    """Amount in US dollars that earlier attempts have spent on the job."""
    paid_prompt_tokens: int = 0
    """Number of prompt tokens that earlier attempts have sent."""
    pinned: dict[str, Any] | None
    """Everything that determined the result when the job was first started; None at the first attempt."""
    submitted_at: dt.datetime


class JobVerdict(Frozen):
    """Final outcome of a job, stored once by the holder of the lease."""

    state: Literal["succeeded", "failed"]
    run_id: EvaluationId | None = None
    result: dict[str, Any] | None = None
    """Result of every kind of job except an evaluation, whose report is stored with its run."""
    problem: Problem | None = None
    cost_usd: float | None = None
    """Cost of the job in US dollars; None to use the ledger's total of all its runs."""
    flags: tuple[FlagKind, ...] | None = None
    """Suspicious features of the judged text; None: unchanged since submission."""
    title: str | None = None
    """Title found in a document, which is read when its job starts; None: unchanged since submission."""


class JobEvent(Frozen):
    job: JobId
    number: int
    """Number of the event, from 1, without gaps within a job."""
    kind: EventKind
    data: dict[str, Any]
    at: dt.datetime
