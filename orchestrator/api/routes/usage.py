"""Route `/v1/usage`: the work done for a tenant, and its cost."""

from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import model_validator

from assayer_client.accounts import Usage
from assayer_client.resources import Moment, TenantName
from orchestrator.api.url_queries import UrlQuery
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.web.authentication import Reader, resolve_tenant


class UsageQuery(UrlQuery):
    since: Moment | None = None
    """Start of the period. Defaults to the first day of this month (UTC)."""
    until: Moment | None = None
    """End of the period (exclusive). Defaults to the current time."""
    tenant: TenantName | None = None
    """The tenant; by default, the caller's. Any other tenant requires the scope `admin`."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError("`since` must be before `until`")
        return self


router = APIRouter(prefix="/v1/usage", tags=["usage"])


@router.get("")
async def get_usage(query: Annotated[UsageQuery, Query()], context: Reader) -> Usage:
    """Return jobs, model requests, tokens and cost in a period, by default the current month."""
    tenant = resolve_tenant(context.caller, query.tenant)
    now = context.now
    until = query.until or now
    since = query.since or now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if since >= until:
        raise HttpProblem.invalid_parameter(
            "since", "It must be before `until` or, without `until`, before the current time."
        )
    return require(
        await context.services.usage.get_usage(tenant, since, until), build_not_found_problem("tenant", tenant)
    )
