"""The records of reviewing: members, conflicts of interest, assignments, opinions, overrides, sign-off.

A call is a batch, a proposal an evaluation. People score from 1 to 5; nothing here is a score of the program.
"""

import datetime as dt
from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field

from assayer.errors import AssayerError
from assayer.models import Frozen
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.jobs.models import BatchId, JobId, JobState, TenantId

__all__ = [
    "Assignment",
    "ConflictOfInterest",
    "Member",
    "NewMember",
    "Opinion",
    "PointJudgement",
    "Remark",
    "ReviewRefused",
    "ScoreOfPerson",
    "ScoreOverride",
    "SignOff",
    "Standing",
]

ScoreOfPerson: TypeAlias = Annotated[int, Field(ge=1, le=5)]
"""1 is weak, 5 outstanding."""


class ReviewRefused(AssayerError):
    """The state of the call or the proposal does not allow it: no assignment, a conflict, a signed-off call."""


class _Record(Frozen):
    model_config = ConfigDict(use_attribute_docstrings=True)


class NewMember(_Record):
    name: str
    email: str
    affiliation: str = ""
    """Institutions, separated by semicolons: proposals from there are not assigned to them."""
    role: PersonRole
    mails: bool = True
    """Whether the service tells them by mail what waits for them, where it sends mails."""


class Member(NewMember):
    id: MemberId
    tenant: TenantId
    signs_in: bool
    """They have a key of their own, or have signed in with an identity provider."""
    read_reports_until: dt.datetime | None
    """Of whom another role let read reports: until when it did. They get no proposals of calls from before, since a
    first opinion of theirs would not be blind. Null for who never had such a role, or has had it ever since."""
    created_at: dt.datetime
    removed_at: dt.datetime | None


class ConflictOfInterest(_Record):
    """Why somebody must not review a proposal."""

    evaluation: JobId
    member: MemberId
    source: Literal["declared", "name", "affiliation"]
    """Said by a person; or found: the reviewer's name, or their institution, among what says whose the proposal is."""
    reason: str
    """In words; of one that was found, the words of the proposal."""
    cleared: str | None
    """Why it is none after all; null while it stands."""
    at: dt.datetime


class Assignment(_Record):
    """A proposal that somebody is to review."""

    evaluation: JobId
    batch: BatchId
    row: int | None
    title: str
    state: JobState
    """Of the evaluation; the first opinion need not wait for it."""
    member: MemberId
    at: dt.datetime
    opinion: Literal["none", "blind", "revised"]
    due: dt.date | None
    """The last day for it, as whoever runs the call has set it."""


class Opinion(_Record):
    """What one reviewer thinks of a proposal: first without knowing the program's score, then perhaps revised."""

    evaluation: JobId
    member: MemberId
    name: str
    """Of a call that is signed off: as it was then."""
    blind_score: ScoreOfPerson
    blind_note: str
    blind_at: dt.datetime
    score: ScoreOfPerson
    """The blind one until it is revised."""
    note: str
    revised_at: dt.datetime | None
    conflict: bool
    """A conflict of interest of theirs stands, known since: it is shown, and counts in no figure."""


class PointJudgement(_Record):
    """Whether a reviewer agrees with one point of the report."""

    evaluation: JobId
    member: MemberId
    name: str
    point: str
    """JSON Pointer into the report."""
    agrees: bool
    reason: str
    at: dt.datetime


class ScoreOverride(_Record):
    """The score that counts in place of what the opinions come to."""

    evaluation: JobId
    score: ScoreOfPerson
    reason: str
    by: str
    name: str
    at: dt.datetime


class Remark(_Record):
    """What somebody added about a proposal; it stays as it is."""

    id: int
    evaluation: JobId
    by: str
    name: str
    role: PersonRole
    text: str
    at: dt.datetime


class SignOff(_Record):
    """The call is decided: nothing about it changes any more."""

    batch: BatchId
    by: str
    name: str
    note: str
    missing_opinions: int
    """Assigned and never given."""
    at: dt.datetime
    audit_number: int
    """Of the entry in the audit log; with its hash, a tip to be written down."""
    audit_hash: str


class Standing(_Record):
    """Where a reviewer is with a proposal that is assigned to them."""

    blind_given: bool
