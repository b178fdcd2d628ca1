"""What a mail tells, and how it stands."""

import datetime as dt
from typing import Annotated, Literal, NamedTuple, TypeAlias
from uuid import UUID

from pydantic import ConfigDict, Field, TypeAdapter

from assayer.models import Frozen
from orchestrator.access.roles import PersonRole
from orchestrator.jobs.models import BatchId

__all__ = ["NEWS", "CallFinished", "ClaimedMail", "Mail", "MailNews", "MailState", "MemberInvited", "ReviewsAssigned"]

MailState: TypeAlias = Literal["pending", "sent", "dead"]


class CallFinished(Frozen):
    """To whoever handed it in."""

    kind: Literal["call finished"] = "call finished"
    call: BatchId
    name: str
    rows: int
    full: int
    part: int
    unscored: int
    poorly_covered: int = 0
    """Proposals whose field the corpus does not cover, scored or not."""
    failed: int
    cancelled: int
    refused: int
    """Rows that held no usable proposal."""
    erased: int
    cost_usd: float | None
    """None where that of a proposal is not known."""
    known_cost_usd: float


class ReviewsAssigned(Frozen):
    """To a reviewer: once for all that one act assigned to them."""

    kind: Literal["reviews assigned"] = "reviews assigned"
    call: BatchId
    name: str
    proposals: int
    due: dt.date | None


class MemberInvited(Frozen):
    kind: Literal["member invited"] = "member invited"
    role: PersonRole
    call: BatchId | None = None
    """That they are invited to review; null: to work here, whatever comes."""
    name: str = ""
    due: dt.date | None = None
    """The last day for opinions on that call."""


MailNews: TypeAlias = Annotated[CallFinished | ReviewsAssigned | MemberInvited, Field(discriminator="kind")]
NEWS: TypeAdapter[MailNews] = TypeAdapter(MailNews)


class ClaimedMail(NamedTuple):
    """A mail that is due, claimed for a while by one process."""

    id: UUID
    name: str
    """Of the member."""
    address: str
    tenant: str
    """Its name for people."""
    news: MailNews
    attempt: int
    """From 1: this one."""


class Mail(Frozen):
    """A mail to a member, as it stands. What it says is not kept."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: UUID
    kind: Literal["call finished", "reviews assigned", "member invited"]
    batch: BatchId | None
    """The call that it tells of."""
    state: MailState
    """dead: it was given up, and `said` says why."""
    attempt: int
    """How often it was tried."""
    next_at: dt.datetime | None
    """When it is tried again; null unless it is pending."""
    said: str
    """How the last attempt ended, in words."""
    created_at: dt.datetime
