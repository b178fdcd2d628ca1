"""Jobs of the service: what somebody asked for, where it stands, and who works on it."""

import datetime as dt
from typing import Annotated, Any, Literal, NewType, TypeAlias
from uuid import UUID

from pydantic import Field

from assayer.models import EvaluationId, Frozen
from orchestrator.jobs.requests import ComparisonRequest, EvaluationRequest, RankingRequest

__all__ = [
    "TERMINAL",
    "BatchId",
    "Job",
    "JobId",
    "JobKind",
    "JobState",
    "JobVerdict",
    "KeyId",
    "Lease",
    "Priority",
    "Problem",
    "TenantId",
    "Work",
]

TenantId = NewType("TenantId", str)
KeyId = NewType("KeyId", str)
JobId = NewType("JobId", str)
BatchId = NewType("BatchId", str)

JobKind = Literal["evaluation", "comparison", "ranking"]
Priority = Literal["interactive", "batch"]
JobState = Literal["queued", "running", "done", "failed", "dead", "cancelled"]
"""failed: it cannot be done, for a reason that trying again does not change; dead: given up after every try."""
TERMINAL: frozenset[JobState] = frozenset({"done", "failed", "dead", "cancelled"})

Work: TypeAlias = Annotated[EvaluationRequest | ComparisonRequest | RankingRequest, Field(discriminator="kind")]


class Problem(Frozen):
    """Why there is no result (RFC 9457, the members that outlive a request)."""

    type: str
    """The last part of the problem type's URI: `budget-exhausted`."""
    title: str
    detail: str
    """What was wrong, where, and what to do."""


class Job(Frozen):
    """One line of the queue, whole."""

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
    attempt: int
    """How often it was begun."""
    run_id: EvaluationId | None
    """Names the work by all that determines its result; known once it has begun."""
    problem: Problem | None
    cost_usd: float | None
    """Of everything that was paid for it; None while unknown."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None


class Lease(Frozen):
    """The right to work on a job, until somebody else has it."""

    job: JobId
    tenant: TenantId
    token: UUID
    """A new one every time the job is leased: a writer without it is refused."""
    attempt: int
    priority: Priority
    work: Work
    document: bytes | None
    """The PDF in which the idea came, where the work names none."""
    max_usd: float | None
    """The most that this job may cost; of the request's limit and what the tenant has left, the lesser."""
    pinned: dict[str, Any] | None
    """Everything that determined the result when the job was first begun; None at the first try."""


class JobVerdict(Frozen):
    """How a job ended. Written once, by whoever holds the lease."""

    state: Literal["done", "failed", "dead"]
    run_id: EvaluationId | None = None
    result: dict[str, Any] | None = None
    """Of a comparison or a ranking; an evaluation's report lies with its run."""
    problem: Problem | None = None
    cost_usd: float | None = None
    prompt_tokens: int = 0
