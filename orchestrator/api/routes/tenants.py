"""Routes `/v1/tenants`, with which operators manage tenants, their limits and their budgets."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from assayer_client.accounts import NewTenant, TenantBody, TenantPatch, TenantResource
from assayer_client.resources import Page, TenantName
from orchestrator.api.idempotency import CreationDependency, build_replayed_response
from orchestrator.api.openapi import CREATED_RESPONSE
from orchestrator.api.url_queries import PageQuery
from orchestrator.jobs.models import TenantId, TenantPlan
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.store.idempotency import RecordedResponse
from orchestrator.web.authentication import Admin
from orchestrator.web.services import ServicesDependency


class TenantsQuery(PageQuery):
    after: TenantName | None = None
    """`next` from the previous page."""


router = APIRouter(prefix="/v1/tenants", tags=["tenants"])

TenantPathId = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


@router.post("", status_code=201, response_model=NewTenant, responses=CREATED_RESPONSE)
async def create_tenant(body: TenantBody, context: Admin, creation: CreationDependency) -> Response:
    """Create a tenant without keys."""
    tenant = TenantId(body.id or context.services.new_id("tn"))
    plan = TenantPlan(**body.model_dump(exclude={"id"}))
    content = NewTenant(id=tenant, **plan.model_dump()).model_dump_json().encode()
    location = f"/v1/tenants/{tenant}"
    record = await creation.build_record(content, location)
    new_tenant = await context.services.tenants.create(tenant, plan, record, by=context.tenant)
    if new_tenant is None:
        raise HttpProblem("conflict", f"The tenant {tenant!r} already exists with different settings.")
    if isinstance(new_tenant, RecordedResponse):
        return build_replayed_response(new_tenant)
    return Response(content, 201, {"Location": location}, "application/json")


@router.get("")
async def list_tenants(query: Annotated[TenantsQuery, Query()], context: Admin) -> Page[TenantResource]:
    """List all tenants, sorted by id."""
    last_id = None if query.after is None else TenantId(query.after)
    tenants = await context.services.tenants.list(after=last_id, limit=query.limit + 1)
    page = tenants[: query.limit]
    return Page(items=tuple(page), next=page[-1].id if len(tenants) > query.limit else None)


@router.get("/{id}")
async def get_tenant(id: TenantPathId, context: Admin) -> TenantResource:
    """Return a tenant with its limits."""
    return await _find_tenant(context.services, id)


@router.patch("/{id}")
async def update_tenant(id: TenantPathId, body: TenantPatch, context: Admin) -> TenantResource:
    """Change the fields given in the body; others are unchanged. Running jobs continue."""
    stored_tenant = await _find_tenant(context.services, id)
    current_settings = {name: getattr(stored_tenant, name) for name in TenantPlan.model_fields}
    plan = TenantPlan(**current_settings | body.model_dump(exclude_unset=True))
    return require(await context.services.tenants.update(stored_tenant.id, plan), build_not_found_problem("tenant", id))


@router.delete("/{id}", status_code=204)
async def delete_tenant(id: TenantPathId, context: Admin) -> None:
    """Delete a tenant with its keys, jobs, reports, batches, webhooks, and the text (but not the hashes) of its audit
    log. The tenant's running jobs are stopped."""
    if id == context.tenant:
        raise HttpProblem(
            "conflict",
            "A tenant cannot delete itself, because this key would be deleted with it. Use another tenant's admin key.",
        )
    if not await context.services.tenants.delete(TenantId(id), context.by):
        raise build_not_found_problem("tenant", id)


async def _find_tenant(services: ServicesDependency, tenant: str) -> TenantResource:
    return require(await services.tenants.get(TenantId(tenant)), build_not_found_problem("tenant", tenant))
