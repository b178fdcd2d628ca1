"""Content of a mail, and its delivery state."""

import datetime as dt
from typing import Annotated, Literal, NamedTuple, TypeAlias
from uuid import UUID

from pydantic import Field, TypeAdapter

from assayer.models import Frozen
from assayer_client.people import Mail, MailState
from orchestrator.access.roles import PersonRole
from orchestrator.jobs.models import BatchId


class CallFinished(Frozen):
    """Mail to the member who submitted the call."""

    kind: Literal["call finished"] = "call finished"
    call: BatchId
    name: str
    rows: int
    full: int
    part: int
    unscored: int
    poorly_covered: int = 0
    """Number of proposals whose field the corpus does not cover, scored or not."""
    failed: int
    cancelled: int
    refused: int
    """Number of rows without a usable proposal."""
    erased: int
    cost_usd: float | None
    """Total cost in US dollars; None if the cost of any proposal is not known."""
    known_cost_usd: float


class ReviewsAssigned(Frozen):
    """Mail to a reviewer: one for all assignments made in one action."""

    kind: Literal["reviews assigned"] = "reviews assigned"
    call: BatchId
    name: str
    proposals: int
    due: dt.date | None


class MemberInvited(Frozen):
    kind: Literal["member invited"] = "member invited"
    role: PersonRole
    call: BatchId | None = None
    """Call that the member is invited to review; null: invited to the service in general."""
    name: str = ""
    due: dt.date | None = None
    """Last day for opinions on that call."""


MailNews: TypeAlias = Annotated[CallFinished | ReviewsAssigned | MemberInvited, Field(discriminator="kind")]
NEWS: TypeAdapter[MailNews] = TypeAdapter(MailNews)


class ClaimedMail(NamedTuple):
    """A mail that is due, claimed for a limited time by one process."""

    id: UUID
    name: str
    """Name of the member."""
    address: str
    tenant: str
    """Display name of the tenant."""
    news: MailNews
    attempt: int
    """Number of this attempt, from 1."""
