"""`/v1/audit-log`: who did what about decisions, as a chain of hashes that anybody can check."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from orchestrator.access.audit_chain import AuditEntry, AuditTip, without_judgements
from orchestrator.access.roles import Role
from orchestrator.api.acting import AuditReader
from orchestrator.api.common_schemas import Body, Page
from orchestrator.api.openapi import problem_responses
from orchestrator.api.services import ServicesDependency

__all__ = ["AuditLogPage", "AuditQuery", "router"]


class AuditQuery(Body):
    limit: int = Field(default=500, ge=1, le=1_000)
    after: int = Field(default=0, ge=0, le=2**53)
    """`next` of the page before: the number of its last entry."""


class AuditLogPage(Page[AuditEntry]):
    reader: Role
    """As whom it was read: a machine is not shown what people think."""


router = APIRouter(prefix="/v1/audit-log", tags=["audit_log"])


@router.get("", responses=problem_responses(422))
async def entries(
    query: Annotated[AuditQuery, Query()], caller: AuditReader, services: ServicesDependency
) -> AuditLogPage:
    """The log of one's tenant, in the order in which it was written. A key that is no person's reads who did what, and
    hashes by which that can be checked, but not what people think."""
    found = await services.audit_log.entries(caller.tenant, after=query.after, limit=query.limit + 1)
    page = found[: query.limit]
    if caller.role == "machine":
        page = list(map(without_judgements, page))
    return AuditLogPage(
        items=tuple(page), next=str(page[-1].number) if len(found) > query.limit else None, reader=caller.role
    )


@router.get("/tip", responses=problem_responses())
async def tip(caller: AuditReader, services: ServicesDependency) -> AuditTip:
    """How long the log is, and the hash of its newest entry. Write it down: what is cut off afterwards shows."""
    return await services.audit_log.tip(caller.tenant)
