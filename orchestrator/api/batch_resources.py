"""Resources of batches; shared with the client."""

import datetime as dt
from typing import Literal

from pydantic import Field

from assayer.models.money import Dollars
from orchestrator.api.resources import Body, PageQuery, Resource, RowError
from orchestrator.batches.progress import left, pace
from orchestrator.jobs.models import JobState, Priority
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.jobs.submissions import Batch

__all__ = [
    "AcceptedBatch",
    "BatchEvaluationsQuery",
    "BatchLinks",
    "BatchQuery",
    "BatchResource",
    "BatchSummary",
    "Duplicate",
    "MoreRowsQuery",
    "ResultsQuery",
    "RowsQuery",
    "batch_links",
    "batch_of",
    "batch_path",
    "summary_of",
]


class RowsQuery(Body):
    """Options of rows: the body is these, or files."""

    method: str = Field(default=EvaluationRequest.model_fields["method"].default, max_length=100)
    cutoff: dt.date | None = None
    """Literature published after this day is not used. A row's own cutoff goes before it."""
    max_usd: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    """Of each evaluation."""
    max_prompt_tokens: int | None = Field(default=None, gt=0, le=1_000_000_000)
    """Of each evaluation."""
    priority: Priority = "batch"
    open: bool = False
    """More rows are to come: the batch has not finished before a further part closes it, a day later at the latest."""


class BatchQuery(RowsQuery):
    name: str = Field(default="", max_length=200)
    """For people."""


class MoreRowsQuery(RowsQuery):
    first: int = Field(ge=1, le=1_000_000_000)
    """Number of its first row: `next_row` of what was sent before."""


class BatchEvaluationsQuery(PageQuery):
    state: JobState | None = None


class ResultsQuery(Body):
    format: Literal["jsonl", "csv", "parquet"] | None = None
    """Goes before `Accept`."""


class Duplicate(Resource):
    """A row with the words of an earlier one. Both are evaluated; answers of language models are paid for once."""

    row: int
    same_as: int


class BatchLinks(Resource):
    """Paths of what belongs to a batch."""

    batch: str
    rows: str
    """To which further parts are sent."""
    evaluations: str
    events: str
    results: str


class AcceptedBatch(Resource):
    """The rows of one request are stored, and each will end in exactly one verdict."""

    id: str
    name: str
    rows: int
    accepted: int
    rejected: tuple[RowError, ...]
    """Rows that gave no idea. The others go on."""
    duplicates: tuple[Duplicate, ...]
    notices: tuple[str, ...]
    """How a file was read, where that is not a matter of course."""
    next_row: int
    """Where a further part begins, if the batch is open."""
    links: BatchLinks


class BatchSummary(Resource):
    id: str
    name: str
    rows: int
    """Of the input."""
    rejected: int
    """Rows that gave no idea."""
    open: bool
    """More rows are to come."""
    states: dict[JobState, int]
    """Evaluations in each state; states without one are missing."""
    cost_usd: Dollars
    """Of the evaluations that have ended, as far as known."""
    ideas_per_hour: float | None
    """That ended, since the batch was accepted; null before the first."""
    finish_expected_at: dt.datetime | None
    """At that pace; null while there is none, and when all have ended."""
    created_at: dt.datetime
    finished_at: dt.datetime | None
    """When the last evaluation ended; null before."""
    links: BatchLinks


class BatchResource(BatchSummary):
    rejected_rows: tuple[RowError, ...]


def batch_path(batch: str) -> str:
    return f"/v1/batches/{batch}"


def batch_links(batch: str) -> BatchLinks:
    own = batch_path(batch)
    return BatchLinks(
        batch=own,
        rows=f"{own}/rows",
        evaluations=f"{own}/evaluations",
        events=f"{own}/events",
        results=f"{own}/results",
    )


def summary_of(batch: Batch, now: dt.datetime) -> BatchSummary:
    speed = pace(batch.counts, batch.created_at, batch.finished_at or now)
    waiting = left(batch.counts)
    return BatchSummary(
        id=batch.id,
        name=batch.name,
        rows=batch.rows,
        rejected=len(batch.rejected),
        open=batch.open,
        states=batch.counts,
        cost_usd=batch.cost_usd,
        ideas_per_hour=speed,
        finish_expected_at=now + dt.timedelta(hours=waiting / speed) if speed and waiting else None,
        created_at=batch.created_at,
        finished_at=batch.finished_at,
        links=batch_links(batch.id),
    )


def batch_of(batch: Batch, now: dt.datetime) -> BatchResource:
    rows = tuple(RowError(**row.model_dump()) for row in batch.rejected)
    return BatchResource(**dict(summary_of(batch, now)), rejected_rows=rows)
