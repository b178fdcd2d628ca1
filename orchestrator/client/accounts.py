"""Tenants, keys and usage, as calls."""

import datetime as dt

from orchestrator.api.accounts import Key, KeyBody, NewKey, NewTenant, TenantBody, TenantPatch, TenantResource, Usage
from orchestrator.api.resources import Page
from orchestrator.client.calls import Call, path, reads, reads_nothing

__all__ = [
    "change_tenant",
    "create_key",
    "create_tenant",
    "delete_tenant",
    "keys",
    "revoke_key",
    "tenant",
    "tenants",
    "usage",
]


def create_tenant(body: TenantBody, *, key: str | None = None) -> Call[NewTenant]:
    """Takes the scope `admin`, as everything about tenants."""
    return Call("POST", path("tenants"), reads(NewTenant), body=body, key=key)


def tenants(*, after: str | None = None, limit: int = 50) -> Call[Page[TenantResource]]:
    """By id."""
    return Call("GET", path("tenants"), reads(Page[TenantResource]), query={"after": after, "limit": limit})


def tenant(tenant: str) -> Call[TenantResource]:
    return Call("GET", path("tenants", tenant), reads(TenantResource))


def change_tenant(tenant: str, body: TenantPatch) -> Call[TenantResource]:
    """Changes what the body was given, and nothing else."""
    return Call("PATCH", path("tenants", tenant), reads(TenantResource), body=body)


def delete_tenant(tenant: str) -> Call[None]:
    """With its keys, jobs, reports, batches and webhooks."""
    return Call("DELETE", path("tenants", tenant), reads_nothing)


def create_key(body: KeyBody, *, key: str | None = None) -> Call[NewKey]:
    """Only this answer holds the new key. Keys take the scope `manage`; those of another tenant, `admin`."""
    return Call("POST", path("keys"), reads(NewKey), body=body, key=key)


def keys(*, tenant: str | None = None) -> Call[Page[Key]]:
    """The newest first, revoked ones included."""
    return Call("GET", path("keys"), reads(Page[Key]), query={"tenant": tenant})


def revoke_key(api_key: str, *, tenant: str | None = None) -> Call[Key]:
    """By its id (`ak_…`), from the next request on."""
    return Call("DELETE", path("keys", api_key), reads(Key), query={"tenant": tenant})


def usage(
    *, since: dt.datetime | None = None, until: dt.datetime | None = None, tenant: str | None = None
) -> Call[Usage]:
    """Of this month when no time is given."""
    query = {
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "tenant": tenant,
    }
    return Call("GET", path("usage"), reads(Usage), query=query)
