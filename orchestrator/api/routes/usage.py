"""`/v1/usage`: what was done for a tenant, and what it cost."""

from typing import Annotated

from fastapi import APIRouter, Query

from assayer.models import Absent
from orchestrator.api.accounts import Usage, UsageQuery
from orchestrator.api.documented import problems
from orchestrator.api.jobs import missing
from orchestrator.api.problems import Refusal
from orchestrator.api.security import Reader, tenant_for
from orchestrator.api.services import Offered

__all__ = ["router"]

router = APIRouter(prefix="/v1/usage", tags=["usage"])


@router.get("", responses=problems(404, 422))
async def used(query: Annotated[UsageQuery, Query()], caller: Reader, services: Offered) -> Usage:
    """Jobs, calls, tokens and cost of a span of time; without one, of this month."""
    tenant = tenant_for(caller, query.tenant)
    now = services.clock.now()
    until = query.until or now
    since = query.since or now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if since >= until:
        raise Refusal.parameter("since", "It should lie before `until`, or before now without one.")
    found = await services.usage.usage(tenant, since, until)
    if found is None:
        raise missing("tenant", tenant)
    absent = found.cost_usd.reason if isinstance(found.cost_usd, Absent) else None
    values = found.model_dump(exclude={"cost_usd"})
    cost = None if isinstance(found.cost_usd, Absent) else found.cost_usd
    return Usage(tenant=tenant, cost_usd=cost, cost_absent=absent, **values)
