"""Tenants, API keys and usage."""

import datetime as dt
from typing import Literal

from assayer_client.requests import ApiCall, path, reads, reads_nothing
from assayer_client.resources import Body, JobState, Page, Resource

Scope = Literal["submit", "read", "manage", "metrics", "admin"]


class TenantPatch(Body):
    """What is given replaces what was agreed; null is no limit."""

    name: str = ""
    weight: float = 1.0
    """Share of the service, in proportion to the weights of the others who ask at the time."""
    max_running: int | None = None
    """Jobs at once."""
    max_queued: int = 20_000
    """More are refused."""
    monthly_usd: float | None = None
    """Of a calendar month in UTC."""
    retention_days: int | None = None
    """So long after their end jobs are deleted with all that belongs to them."""


class TenantBody(TenantPatch):
    id: str | None = None
    """Drawn when it is not given."""
    name: str


class NewTenant(Resource):
    id: str
    name: str
    weight: float
    max_running: int | None
    """Null: no limit."""
    max_queued: int
    monthly_usd: float | None
    """Null: no limit."""
    retention_days: int | None
    """Null: kept until they are deleted."""


class TenantResource(NewTenant):
    created_at: dt.datetime


class KeyBody(Body):
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None = None
    """Null: what the service's settings say."""
    expires_at: dt.datetime | None = None
    """Null: never."""
    tenant: str | None = None
    """Another than one's own takes the scope `admin`."""


class NewKey(Resource):
    id: str
    tenant: str
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None
    expires_at: dt.datetime | None
    secret: str
    """The key itself. It is shown here and never again."""


class Key(Resource):
    id: str
    tenant: str
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None
    """Null: what the service's settings say."""
    created_at: dt.datetime
    expires_at: dt.datetime | None
    """Null: never."""
    revoked_at: dt.datetime | None


class UsageCount(Resource):
    kind: str
    state: JobState
    jobs: int


class Usage(Resource):
    """Of jobs that are still kept; figures of the month's budget outlive them."""

    tenant: str
    since: dt.datetime
    until: dt.datetime
    jobs: tuple[UsageCount, ...]
    """Accepted in the span, by the state in which they are now."""
    calls: int
    """Of language models in the span, answers from the cache included."""
    cached: int
    prompt_tokens: int
    """Of calls that were sent."""
    completion_tokens: int
    cost_usd: float | None
    cost_absent: str | None
    """Why the cost is null."""
    spent_this_month_usd: float
    """By jobs that have ended, and by ended attempts of those that have not."""
    reserved_usd: float
    """For jobs that run, of the month's budget."""
    monthly_usd: float | None
    """Null: no limit."""


def create_tenant(body: TenantBody, *, key: str | None = None) -> ApiCall[NewTenant]:
    """Takes the scope `admin`, as everything about tenants."""
    return ApiCall("POST", path("tenants"), reads(NewTenant), body=body, key=key)


def tenants(*, after: str | None = None, limit: int = 50) -> ApiCall[Page[TenantResource]]:
    """By id."""
    return ApiCall("GET", path("tenants"), reads(Page[TenantResource]), query={"after": after, "limit": limit})


def tenant(tenant: str) -> ApiCall[TenantResource]:
    return ApiCall("GET", path("tenants", tenant), reads(TenantResource))


def change_tenant(tenant: str, body: TenantPatch) -> ApiCall[TenantResource]:
    """Changes what the body was given, and nothing else."""
    return ApiCall("PATCH", path("tenants", tenant), reads(TenantResource), body=body)


def delete_tenant(tenant: str) -> ApiCall[None]:
    """With its keys, jobs, reports, batches and webhooks."""
    return ApiCall("DELETE", path("tenants", tenant), reads_nothing)


def create_key(body: KeyBody, *, key: str | None = None) -> ApiCall[NewKey]:
    """Only this answer holds the new key. Keys take the scope `manage`; those of another tenant, `admin`."""
    return ApiCall("POST", path("keys"), reads(NewKey), body=body, key=key)


def keys(*, tenant: str | None = None) -> ApiCall[Page[Key]]:
    """The newest first, revoked ones included."""
    return ApiCall("GET", path("keys"), reads(Page[Key]), query={"tenant": tenant})


def revoke_key(api_key: str, *, tenant: str | None = None) -> ApiCall[Key]:
    """By its id (`ak_…`), from the next request on."""
    return ApiCall("DELETE", path("keys", api_key), reads(Key), query={"tenant": tenant})


def usage(
    *, since: dt.datetime | None = None, until: dt.datetime | None = None, tenant: str | None = None
) -> ApiCall[Usage]:
    """Of this month when no time is given."""
    query = {
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "tenant": tenant,
    }
    return ApiCall("GET", path("usage"), reads(Usage), query=query)
