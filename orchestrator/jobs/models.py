"""The service's records: jobs and their events, leases, verdicts, problems, tenants, and the ids that name them."""

import datetime as dt
from typing import Annotated, Any, Literal, NewType, TypeAlias
from uuid import UUID

from pydantic import Field

from assayer.models import EvaluationId, FlagKind, Frozen
from orchestrator.jobs.requests import (
    ComparisonRequest,
    CurationRequest,
    EvaluationRequest,
    ProposalRequest,
    RankingRequest,
    RewardsRequest,
    ScoreRequest,
)

__all__ = [
    "TERMINAL",
    "BatchId",
    "EventKind",
    "Job",
    "JobEvent",
    "JobId",
    "JobKind",
    "JobRequest",
    "JobState",
    "JobVerdict",
    "KeyId",
    "Lease",
    "LivePriority",
    "Priority",
    "Problem",
    "Tenant",
    "TenantId",
    "TenantPlan",
    "ThingKind",
]

TenantId = NewType("TenantId", str)
KeyId = NewType("KeyId", str)
JobId = NewType("JobId", str)
BatchId = NewType("BatchId", str)

JobKind = Literal["evaluation", "comparison", "ranking", "rewards", "curation", "proposal", "score"]
ThingKind = Literal[JobKind, "batch"]
"""What a tenant submits and deletes."""
LivePriority = Literal["interactive", "batch"]
Priority = Literal[LivePriority, "overnight"]
"""Overnight jobs have places of their own, and their questions to language models wait for batches that cost less."""
JobState = Literal["queued", "running", "done", "failed", "dead", "cancelled"]
"""failed: for a reason that another attempt would not change; dead: given up after too many attempts."""
TERMINAL: frozenset[JobState] = frozenset({"done", "failed", "dead", "cancelled"})

JobRequest: TypeAlias = Annotated[
    EvaluationRequest
    | ComparisonRequest
    | RankingRequest
    | RewardsRequest
    | CurationRequest
    | ProposalRequest
    | ScoreRequest,
    Field(discriminator="kind"),
]

EventKind: TypeAlias = Literal[
    "queued", "started", "progress", "retried", "repinned", "done", "failed", "dead", "cancelled"
]
"""retried: back in the queue; repinned: started again with other settings. The last four are final."""
TenantName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
"""Of a tenant among tenants."""


class Problem(Frozen):
    """Why there is no result (RFC 9457, the members that outlive a request)."""

    type: str
    """The last part of the problem type's URI: `budget-exhausted`."""
    title: str
    detail: str
    """What was wrong, where, and what to do."""


class Job(Frozen):
    """A job of the queue."""

    id: JobId
    tenant: TenantId
    batch: BatchId | None
    row: int | None
    """Of the batch's input, from 1."""
    kind: JobKind
    priority: Priority
    state: JobState
    subject: str
    """For lists: the idea's title, `12 ideas`."""
    source: str = ""
    """The sender's name for it, at most 300 characters; empty where there is none."""
    flags: tuple[FlagKind, ...] = ()
    """What is suspicious in its texts; of a document known once it has been read."""
    attempt: int
    """How often it was started."""
    run_id: EvaluationId | None
    """Identifies everything that determines the result; known once it has started."""
    problem: Problem | None
    cost_usd: float | None
    """Everything that was paid for it; None while unknown."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None


class Lease(Frozen):
    """The right to run a job, until it is leased anew."""

    job: JobId
    tenant: TenantId
    token: UUID
    """New every time the job is leased: a writer with another one is refused."""
    attempt: int
    priority: Priority
    request: JobRequest
    document: bytes | None
    """The PDF with the idea, where neither the request nor a file holds it."""
    document_file: str | None = None
    """Where it lies in the store of documents."""
    max_usd: float | None
    """The most that all attempts of this job may cost together: the lesser of the request's limit and what the tenant
    has left."""
    paid_usd: float = 0.0
    """What earlier attempts have cost of it."""
    paid_prompt_tokens: int = 0
    """What earlier attempts have sent."""
    pinned: dict[str, Any] | None
    """Everything that determined the result when the job was first started; None at the first attempt."""
    submitted_at: dt.datetime


class JobVerdict(Frozen):
    """How a job ended. Stored once, by the holder of the lease."""

    state: Literal["done", "failed", "dead"]
    run_id: EvaluationId | None = None
    result: dict[str, Any] | None = None
    """Of every kind of job but an evaluation; an evaluation's report is stored with its run."""
    problem: Problem | None = None
    cost_usd: float | None = None
    """None: what the ledger says of all its runs."""
    flags: tuple[FlagKind, ...] | None = None
    """What is suspicious in the text that was judged; None: as told when it was submitted."""
    title: str | None = None
    """Of a document, which is read when its job begins; None: as told when it was submitted."""


class JobEvent(Frozen):
    job: JobId
    number: int
    """From 1, without gaps within a job."""
    kind: EventKind
    data: dict[str, Any]
    at: dt.datetime


class TenantPlan(Frozen):
    """A tenant's limits and share."""

    name: str = Field(min_length=1, max_length=200)
    weight: float = Field(default=1.0, gt=0, le=1_000)
    """Share of the service, relative to the weights of the other tenants with waiting jobs."""
    max_running: int | None = Field(default=None, gt=0)
    """Jobs at once; None: no limit."""
    max_queued: int = Field(default=20_000, gt=0)
    """Further ones are refused."""
    monthly_usd: float | None = Field(default=None, gt=0)
    """Of a calendar month in UTC. Jobs for which too little is left wait for the next."""
    retention_days: int | None = Field(default=None, gt=0)
    """Jobs are deleted, with everything that belongs to them, so long after they ended; None: never."""


class Tenant(TenantPlan):
    id: TenantId
    created_at: dt.datetime
