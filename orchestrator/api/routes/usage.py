"""`/v1/usage`: what was done for a tenant, and what it cost."""

import datetime as dt
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import model_validator

from assayer.models import Absent
from assayer.models.base import Dollars
from orchestrator.api.authentication import Reader, tenant_for
from orchestrator.api.common_schemas import Body, Moment, Resource
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem, not_found
from orchestrator.api.services import ServicesDependency
from orchestrator.jobs.models import JobKind, JobState, TenantName

__all__ = ["Usage", "UsageCount", "UsageQuery", "router"]


class UsageQuery(Body):
    since: Moment | None = None
    """Without it: the first of this month, in UTC."""
    until: Moment | None = None
    """Not included. Without it: now."""
    tenant: TenantName | None = None
    """For another tenant than one's own the scope `admin` is needed."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError("`since` should lie before `until`")
        return self


class UsageCount(Resource):
    kind: JobKind
    state: JobState
    jobs: int


class Usage(Resource):
    """Of jobs that are still stored; the figures of the month's budget include deleted ones."""

    tenant: str
    since: dt.datetime
    until: dt.datetime
    jobs: tuple[UsageCount, ...]
    """Accepted in the period, by their current state."""
    calls: int
    """Calls of language models in the period, answers from the cache included."""
    cached: int
    prompt_tokens: int
    """Of calls that were sent, not answered from the cache."""
    completion_tokens: int
    cost_usd: Dollars | None
    cost_absent: str | None
    """Why the cost is null."""
    spent_this_month_usd: float
    """By jobs that have ended, and by ended attempts of those that have not."""
    reserved_usd: float
    """Of the month's budget, for running jobs."""
    monthly_usd: float | None
    """Null: no limit."""


router = APIRouter(prefix="/v1/usage", tags=["usage"])


@router.get("", responses=problem_responses(404, 422))
async def used(query: Annotated[UsageQuery, Query()], caller: Reader, services: ServicesDependency) -> Usage:
    """Jobs, calls, tokens and cost in a period; by default the current month."""
    tenant = tenant_for(caller, query.tenant)
    now = services.clock.now()
    until = query.until or now
    since = query.since or now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if since >= until:
        raise HttpProblem.parameter("since", "It should lie before `until`, or before now without one.")
    found = await services.usage.usage(tenant, since, until)
    if found is None:
        raise not_found("tenant", tenant)
    absent = found.cost_usd.reason if isinstance(found.cost_usd, Absent) else None
    values = found.model_dump(exclude={"cost_usd"})
    cost = None if isinstance(found.cost_usd, Absent) else found.cost_usd
    return Usage(tenant=tenant, cost_usd=cost, cost_absent=absent, **values)
