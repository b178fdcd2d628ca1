"""The audit log: who did what about decisions, as a chain of hashes."""

import datetime as dt
from typing import Any, Literal

from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Page, Resource


class AuditEntry(Resource):
    """One act."""

    tenant: str
    number: int
    """From 1, without gaps."""
    at: dt.datetime
    actor: str
    """Id of the member or key that acted."""
    role: Literal["owner", "officer", "reviewer", "auditor", "machine"]
    act: str
    about: str
    """Id of what it is about: an evaluation, a batch, a member."""
    content: dict[str, Any] | None
    """What was said and done; None once it was erased, and where it is withheld."""
    salt: str | None
    withheld: bool = False
    """The words are there, and say what people think: a key that is no person's is not shown them."""
    content_hash: str
    previous: str
    """`hash` of the entry before."""
    hash: str


class AuditLogPage(Page[AuditEntry]):
    reader: Literal["owner", "officer", "reviewer", "auditor", "machine"] | None = None
    """As whom it was read: a machine is not shown what people think. None: an older service does not say."""


class AuditTip(Resource):
    """The end of a tenant's log."""

    tenant: str
    number: int
    """How many entries there are."""
    hash: str
    """Of the newest one."""


def audit_entries(*, after: int = 0, limit: int = 500) -> ApiCall[AuditLogPage]:
    """The audit log of one's tenant, in the order in which it was written."""
    return ApiCall("GET", path("audit-log"), reads(AuditLogPage), {"after": after, "limit": limit})


def audit_tip() -> ApiCall[AuditTip]:
    """How long the audit log is, and the hash of its newest entry. Write it down: what is cut off afterwards shows."""
    return ApiCall("GET", path("audit-log", "tip"), reads(AuditTip))
