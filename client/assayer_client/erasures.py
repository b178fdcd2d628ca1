"""Erasure of everything stored about an applicant or a batch."""

import datetime as dt
from typing import Self

from pydantic import Field, model_validator

from assayer_client.resources import Body, JobKind, JobState, Resource


class ErasureBody(Body):
    """Erasure request. Exactly one of `source` and `batch` must be set."""

    source: str | None = Field(default=None, min_length=1, max_length=300)
    """The applicant's name, or the name under which you submitted the idea: a file name, or the id in its row."""
    batch: str | None = Field(default=None, max_length=100)
    dry_run: bool = False
    """Only report what would be deleted."""

    @model_validator(mode="after")
    def _has_one_subject(self) -> Self:
        if (self.source is None) == (self.batch is None):
            raise ValueError("Give either `source` or `batch`")
        return self


class ErasedJob(Resource):
    id: str
    kind: JobKind
    title: str
    state: JobState
    """State before the deletion."""
    batch: str | None
    row: int | None
    warning: str = ""
    """Effect of its deletion on other proposals; empty if there is none."""


class RedactedRanking(Resource):
    """Finished ranking from which the applicant is removed. The other proposals keep their ranks."""

    id: str
    title: str
    removed_proposals: int
    """Number of proposals removed."""
    remaining_proposals: int
    """Number of proposals left in the ranking."""


class Erasure(Resource):
    """Result of an erasure, or of its dry run."""

    dry_run: bool
    jobs: tuple[ErasedJob, ...]
    """Jobs that are deleted completely: evaluations, and comparisons and other jobs that contain their ideas. This
    includes rankings that are unfinished, that would be left with fewer than two proposals, or that belong to an erased
    batch."""
    redacted_rankings: tuple[RedactedRanking, ...] = ()
    rejected_rows: int
    """Number of batch rows without a usable idea whose names and errors are erased."""
    batch: str | None
    """Batch that is itself deleted; null if none is."""
    proof: int | None
    """Number of the audit log entry that records the erasure: `GET /v1/erasures/{number}`. Null for a dry run."""


class ErasureProof(Resource):
    """Proof that data was erased and that none of it is still stored."""

    number: int
    """Number of the entry in the audit log."""
    erased_at: dt.datetime
    erased_by_id: str
    """Id of the member or key that performed the erasure."""
    erased_by: str
    """Name of the member or key at that time."""
    role: str
    subject: str
    """Subject of the erasure: the batch, or `an applicant`, who is not named."""
    erased_ids: tuple[str, ...]
    """Ids of everything that was deleted."""
    redacted_rankings: tuple[str, ...] = ()
    """Ids of rankings that are kept without the erased idea."""
    erased_audit_entries: int
    """Number of related audit log entries whose content was erased too. Their hashes remain in the chain."""
    hash: str
    """The entry's hash. `assayer admin audit-log verify` checks it together with the whole chain."""
    still_stored: tuple[str, ...]
    """Deleted ids that are still stored, and rankings that still contain erased data; empty if the erasure was
    complete."""
    checked_at: dt.datetime
    audit_head: str
    """Audit log head at that moment: `NUMBER:HASH` of the newest entry."""
