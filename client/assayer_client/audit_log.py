"""Audit log of decisions and who made them, as a hash chain."""

import datetime as dt
from typing import Any, Literal

from assayer_client.people import Role
from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Page, Resource, TenantId

AuditedAct = Literal[
    "member invited",
    "member changed",
    "member removed",
    "key given",
    "key made",
    "key revoked",
    "account bound",
    "call created",
    "call submitted",
    "proposals added",
    "call changed",
    "call archived",
    "call unarchived",
    "applicant changed",
    "call cancelled",
    "call run again",
    "evaluation cancelled",
    "evaluation run again",
    "ranking started",
    "ranking cancelled",
    "conflict declared",
    "conflict cleared",
    "review declined",
    "expertise changed",
    "bidding opened",
    "bidding closed",
    "bids given",
    "reviewers chosen",
    "reviewers assigned",
    "assignment withdrawn",
    "reviewers reminded",
    "blind opinion given",
    "opinion revised",
    "point judged",
    "score overridden",
    "decision made",
    "comments released",
    "letter templates changed",
    "letters sent",
    "objection recorded",
    "objection answered",
    "remark added",
    "signed off",
    "exported",
    "erased",
]


class AuditEntry(Resource):
    """Entry for one act."""

    tenant: TenantId
    number: int
    """Number of the entry, counted from 1 without gaps."""
    at: dt.datetime
    actor: str
    """Id of the member or key that acted."""
    role: Role
    act: str
    """Kind of act, a value of AuditedAct; a newer service may return values that are not listed there."""
    about: str
    """Id of the subject: an evaluation, a batch or a member."""
    content: dict[str, Any] | None
    """Content of the act: the data written and the changes made; null if it was erased or is withheld."""
    salt: str | None
    """Salt of the content hash, in hexadecimal; null if the content is null."""
    withheld: bool = False
    """True if the content exists but is withheld because it contains personal opinions, which are not shown to keys
    that belong to no person."""
    content_hash: str
    previous: str
    """`hash` of the previous entry."""
    hash: str


class AuditLogPage(Page[AuditEntry]):
    reader: Role
    """Role of the reader; machine keys are not shown personal opinions."""


class AuditTip(Resource):
    """Newest entry of a tenant's audit log."""

    tenant: TenantId
    number: int
    """Number of entries."""
    hash: str
    """Hash of the newest entry."""


def audit_entries(*, after: int = 0, limit: int = 500) -> ApiCall[AuditLogPage]:
    """Return the audit log of the caller's tenant, in the order in which it was written."""
    return ApiCall("GET", path("audit-log"), reads(AuditLogPage), {"after": after, "limit": limit})
