"""Tenants, API keys and usage."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field

from assayer_client.requests import ApiCall, build_path, make_json_parser
from assayer_client.resources import (
    Body,
    Dollars,
    JobKind,
    JobState,
    Moment,
    Name,
    Page,
    Resource,
    TenantId,
    TenantName,
)

Scope = Literal["submit", "read", "manage", "metrics", "admin"]
"""Scope of an API key. manage: the tenant's keys, webhooks and deletion; metrics: only the metrics, for all tenants;
admin: everything."""
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Usd = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class TenantPatch(Body):
    """Changes to a tenant. Fields that are set replace the current values; null means no limit."""

    name: Name = ""
    weight: float = Field(default=1.0, gt=0, le=1_000, allow_inf_nan=False)
    """Share of the service's capacity, relative to other tenants with queued jobs."""
    max_running: Count | None = None
    """Maximum number of concurrent jobs; null: no limit."""
    max_queued: Count = 20_000
    """Maximum number of queued jobs; further jobs are rejected."""
    monthly_usd: Usd | None = None
    """Budget per calendar month (UTC), in US dollars."""
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """Retention period: days after which finished jobs are deleted, with everything that belongs to them. Null keeps
    them until someone deletes them."""


class TenantPlan(TenantPatch):
    """A tenant's limits, and its share of the service's capacity."""

    name: Name


class TenantBody(TenantPlan):
    """Request to create a tenant."""

    id: TenantName | None = None
    """Id for the tenant; generated if omitted."""


class NewTenant(Resource):
    id: TenantId
    name: str
    weight: float
    max_running: int | None
    """Maximum number of concurrent jobs; null: no limit."""
    max_queued: int
    monthly_usd: float | None
    """Budget per calendar month (UTC), in US dollars; null: no limit."""
    retention_days: int | None
    """Retention period in days; null keeps jobs until someone deletes them."""


class TenantResource(NewTenant):
    created_at: dt.datetime


class KeyBody(Body):
    name: Name
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=5)
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Rate limit in requests per minute; null uses the service's setting."""
    expires_at: Moment | None = None
    """When the key expires; null: never."""
    tenant: TenantName | None = None
    """Tenant to which the key belongs. Any tenant but the caller's own requires the scope `admin`."""


class NamedKey(Resource):
    id: str
    tenant: str
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None
    """Rate limit in requests per minute; null uses the service's setting."""
    expires_at: dt.datetime | None
    """When the key expires; null: never."""


class NewKey(NamedKey):
    secret: str
    """Secret API key, shown only in this response."""


class Key(NamedKey):
    created_at: dt.datetime
    revoked_at: dt.datetime | None


class UsageCount(Resource):
    kind: JobKind
    state: JobState
    jobs: int


class MonthBudget(Resource):
    """A tenant's budget for this calendar month (UTC)."""

    spent_this_month_usd: float
    """Amount spent in US dollars by finished jobs and by finished attempts of other jobs."""
    reserved_usd: float
    """Amount reserved for running jobs."""
    monthly_usd: float | None
    """Budget per calendar month (UTC), in US dollars; null: no limit."""

    @property
    def left_usd(self) -> float | None:
        """Remaining budget in US dollars; None if there is no limit."""
        if self.monthly_usd is None:
            return None
        return max(0.0, self.monthly_usd - self.spent_this_month_usd - self.reserved_usd)


class Usage(MonthBudget):
    """Usage by jobs that are still stored. Only the monthly budget's figures also include deleted jobs."""

    tenant: str
    since: dt.datetime
    until: dt.datetime
    jobs: tuple[UsageCount, ...]
    """Jobs accepted in the period, by their current state."""
    llm_requests: int
    """LLM requests in the period, including those answered from the cache."""
    cached_llm_requests: int
    prompt_tokens: int
    """Prompt tokens in requests that were sent, rather than answered from the cache."""
    cached_prompt_tokens: int = 0
    """Number of these that came from the endpoint's prompt cache, if the endpoint reports it."""
    completion_tokens: int
    cost_usd: Dollars | None
    cost_absent: str | None
    """Why the cost is null."""


def list_keys(*, tenant: str | None = None) -> ApiCall[Page[Key]]:
    """List the keys, newest first, including revoked ones."""
    return ApiCall("GET", build_path("keys"), make_json_parser(Page[Key]), query={"tenant": tenant})


def revoke_key(api_key: str, *, tenant: str | None = None) -> ApiCall[Key]:
    """Revoke a key by its id (`ak_…`), effective from the next request."""
    return ApiCall("DELETE", build_path("keys", api_key), make_json_parser(Key), query={"tenant": tenant})


def get_usage(
    *, since: dt.datetime | None = None, until: dt.datetime | None = None, tenant: str | None = None
) -> ApiCall[Usage]:
    """Return the usage in a period, by default the current month."""
    query = {
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "tenant": tenant,
    }
    return ApiCall("GET", build_path("usage"), make_json_parser(Usage), query=query)
