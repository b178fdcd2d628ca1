"""Content of emails, and their state of delivery."""

import datetime as dt
from typing import Annotated, Literal, NamedTuple, TypeAlias
from uuid import UUID

from pydantic import Field, TypeAdapter

from assayer.models import Frozen
from assayer_client.people import EmailDelivery, EmailState
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.jobs.models import BatchId


class CallFinished(Frozen):
    """Email to the member who submitted a call, sent when the call has finished."""

    kind: Literal["call finished"] = "call finished"
    call: BatchId
    name: str
    rows: int
    full: int
    part: int
    unscored: int
    poorly_covered: int = 0
    """Number of proposals whose field the corpus does not cover, with or without a score."""
    failed: int
    cancelled: int
    refused: int
    """Number of rejected rows, which contain no usable proposal."""
    erased: int
    cost_usd: float | None
    """Total cost in US dollars; None if the cost of any proposal is unknown, or was erased with it."""
    known_cost_usd: float


class ReviewsAssigned(Frozen):
    """Email to a reviewer about all their assignments in a call that were made in a single action."""

    kind: Literal["reviews assigned"] = "reviews assigned"
    call: BatchId
    name: str
    proposals: int
    due: dt.date | None


class ReviewsMissing(Frozen):
    """Reminder to a reviewer of missing reviews in a call."""

    kind: Literal["reviews missing"] = "reviews missing"
    call: BatchId
    name: str
    proposals: int
    due: dt.date | None


class BidsRequested(Frozen):
    """Request for bids to a reviewer of a call, sent by an officer."""

    kind: Literal["bids requested"] = "bids requested"
    call: BatchId
    name: str


class SignInLink(Frozen):
    """Link that a reviewer requested on the sign-in page."""

    kind: Literal["sign-in link"] = "sign-in link"


class MemberInvited(Frozen):
    kind: Literal["member invited"] = "member invited"
    role: PersonRole
    call: BatchId | None = None
    """Call that the member is invited to review; None for an invitation to the service in general."""
    name: str = ""
    due: dt.date | None = None
    """Due date of the reviews of the call."""


MailContent: TypeAlias = Annotated[
    CallFinished | ReviewsAssigned | ReviewsMissing | BidsRequested | MemberInvited | SignInLink,
    Field(discriminator="kind"),
]


class ClaimedMail(NamedTuple):
    """Email that is due, claimed by a process for a limited time."""

    id: UUID
    name: str
    """Name of the member."""
    address: str
    tenant: str
    """Display name of the tenant."""
    news: MailContent
    attempt: int
    """Number of this attempt, from 1."""
    member: MemberId
    role: PersonRole
