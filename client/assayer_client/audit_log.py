"""Audit log: who made which decisions, as a hash chain."""

import datetime as dt
from typing import Any, Literal

from assayer_client.people import Role
from assayer_client.requests import ApiCall, build_path, make_json_parser
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
    """Entry in the audit log that records one action."""

    tenant: TenantId
    number: int
    """Number of the entry, counted from 1 without gaps."""
    recorded_at: dt.datetime
    actor: str
    """Id of the member or key that acted."""
    role: Role
    action: str
    """Kind of action: a value of AuditedAct. A newer service may return values that are not listed there."""
    subject: str
    """Id of what the action concerned: an evaluation, a batch or a member."""
    content: dict[str, Any] | None
    """Details of the action: data written and changes made. Null if they were erased or are withheld."""
    salt: str | None
    """Salt used in the content hash, in hexadecimal; null if the content is null."""
    withheld: bool = False
    """True if the content exists but is withheld, because it contains people's opinions, which are not shown to keys
    that belong to no person."""
    content_hash: str
    previous_hash: str
    """`hash` of the previous entry."""
    hash: str


class AuditLogPage(Page[AuditEntry]):
    reader: Role
    """The reader's role. Keys that belong to no person are not shown people's opinions."""


class AuditHead(Resource):
    """Newest entry in a tenant's audit log."""

    tenant: TenantId
    number: int
    """Number of entries."""
    hash: str
    """Hash of the newest entry."""


def list_audit_entries(*, after: int = 0, limit: int = 500) -> ApiCall[AuditLogPage]:
    """Return the audit log of the caller's tenant, in the order in which it was written."""
    return ApiCall("GET", build_path("audit-log"), make_json_parser(AuditLogPage), {"after": after, "limit": limit})
