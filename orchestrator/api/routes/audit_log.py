"""Routes `/v1/audit-log`: the actions that affect decisions and who performed them, as a hash chain that any reader can
verify."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from assayer_client.audit_log import AuditLogPage
from orchestrator.access.audit_chain import AuditHead, withhold_judgements
from orchestrator.api.permissions import AuditReader
from orchestrator.api.url_queries import UrlQuery


class AuditQuery(UrlQuery):
    limit: int = Field(default=500, ge=1, le=1_000)
    after: int = Field(default=0, ge=0, le=2**53)
    """`next` from the previous page, which is the number of its last entry."""


router = APIRouter(prefix="/v1/audit-log", tags=["audit_log"])


@router.get("")
async def list_audit_entries(query: Annotated[AuditQuery, Query()], context: AuditReader) -> AuditLogPage:
    """List the tenant's audit log, oldest entry first. A machine key sees the actions, who performed them, and the
    hashes needed to verify the log, but not people's judgements."""
    entries = await context.services.audit_log.list_entries(context.tenant, after=query.after, limit=query.limit + 1)
    page = entries[: query.limit]
    if context.caller.role == "machine":
        page = list(map(withhold_judgements, page))
    return AuditLogPage(
        items=tuple(page), next=str(page[-1].number) if len(entries) > query.limit else None, reader=context.caller.role
    )


@router.get("/head")
async def get_audit_head(context: AuditReader) -> AuditHead:
    """Return the log's length and the hash of its newest entry. Store both elsewhere, so that you can detect later
    whether entries were removed from the end."""
    return await context.services.audit_log.get_head(context.tenant)
