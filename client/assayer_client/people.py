"""Members and their roles."""

import datetime as dt
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from assayer_client.resources import BatchId, Body, MemberId, Name, Resource, TenantId

PersonRole = Literal["owner", "officer", "reviewer", "auditor"]
Role = Literal[PersonRole, "machine"]
"""Role of a member or key. owner: is responsible for the tenant; officer: runs its funding calls; reviewer: gives
opinions on assigned proposals; auditor: reads everything and changes nothing; machine: an API key that belongs to no
person."""


EmailState = Literal["pending", "sent", "failed"]
Email = Annotated[str, Field(pattern=r"^[^@\s\x00-\x1f]{1,64}@[^@\s\x00-\x1f]{1,189}$")]
Affiliation = Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x1f]*$")]


class MemberBody(Body):
    name: Name
    email: Email
    """Email address by which the member is recognised when they first sign in with an identity provider."""
    affiliation: Affiliation = ""
    """Institutions, separated by semicolons. Proposals from them are not assigned to the member."""
    role: PersonRole
    receives_email: bool = True
    """Send the member email about the invitation, assigned proposals, and their finished calls. Applies only if the
    service sends email."""


class MemberPatch(Body):
    """Changes to a member. Fields that are set replace the current values."""

    name: Name = ""
    email: Email = ""
    affiliation: Affiliation = ""
    role: PersonRole = "reviewer"
    receives_email: bool = True


class Member(Resource):
    name: str
    email: str
    affiliation: str = ""
    """Institutions, separated by semicolons. Proposals from them are not assigned to the member."""
    role: PersonRole
    receives_email: bool = True
    """Whether the member receives email about pending work. Applies only if the service sends email."""
    id: MemberId
    tenant: TenantId
    can_sign_in: bool
    """Whether the member has a personal key or has signed in with an identity provider."""
    read_reports_until: dt.datetime | None
    """When another role last allowed the member to read reports. The member is not assigned proposals in earlier calls,
    because their first opinion would not be blind. Null: they never had such a role, or still have it."""
    created_at: dt.datetime
    removed_at: dt.datetime | None


class EmailDelivery(Resource):
    """Delivery state of an email to a member. Its content is not stored."""

    id: UUID
    kind: Literal[
        "call finished", "reviews assigned", "reviews missing", "bids requested", "member invited", "sign-in link"
    ]
    batch: BatchId | None
    """Batch (call for proposals) that the email is about."""
    state: EmailState
    """Delivery state. failed: no further attempts will be made; `last_result` describes the last attempt."""
    attempt: int
    """Number of delivery attempts."""
    next_at: dt.datetime | None
    """Time of the next attempt; null unless the email is pending."""
    last_result: str
    """Result of the last attempt, in words."""
    created_at: dt.datetime
