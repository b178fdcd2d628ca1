"""`/v1/tenants`: who uses the service, and what was agreed with them. For the operator."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from orchestrator.api.accounts import NewTenant, TenantBody, TenantPatch, TenantResource, TenantsQuery
from orchestrator.api.documented import REPLAYABLE, problems
from orchestrator.api.idempotency import IdempotencyKey, fingerprint, once, replayed
from orchestrator.api.jobs import missing
from orchestrator.api.problems import Refusal
from orchestrator.api.resources import Page
from orchestrator.api.security import Admin, json_only
from orchestrator.api.services import Offered
from orchestrator.jobs.idempotency import Replay
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.tenancy import Tenant, TenantPlan

__all__ = ["router"]

router = APIRouter(prefix="/v1/tenants", tags=["tenants"])

PathTenant = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


@router.post(
    "",
    status_code=201,
    response_model=NewTenant,
    responses={201: {"description": "Made", "headers": REPLAYABLE}, **problems(400, 409, 413, 415, 422)},
    dependencies=[Depends(json_only)],
)
async def create(
    body: TenantBody, request: Request, caller: Admin, services: Offered, idempotency_key: IdempotencyKey = None
) -> Response:
    """Makes a tenant; it has no keys yet."""
    tenant = TenantId(body.id or services.ids("tn"))
    plan = TenantPlan(**body.model_dump(exclude={"id"}))
    said = NewTenant(id=tenant, **plan.model_dump()).model_dump_json().encode()
    location = f"/v1/tenants/{tenant}"
    keep = once(idempotency_key, fingerprint(request, await request.body()), 201, said, location)
    made = await services.tenants.create(tenant, plan, keep, by=caller.tenant)
    if made is None:
        raise Refusal("conflict", f"There is a tenant {tenant!r} already, with which something else was agreed.")
    if isinstance(made, Replay):
        return replayed(made)
    return Response(said, 201, {"Location": location}, "application/json")


@router.get("", responses=problems(422))
async def listed(query: Annotated[TenantsQuery, Query()], _: Admin, services: Offered) -> Page[TenantResource]:
    """All tenants, by id."""
    after = None if query.after is None else TenantId(query.after)
    tenants = await services.tenants.list(after=after, limit=query.limit + 1)
    page = tenants[: query.limit]
    return Page(items=tuple(map(_resource, page)), next=page[-1].id if len(tenants) > query.limit else None)


@router.get("/{id}", responses=problems(404))
async def one(id: PathTenant, _: Admin, services: Offered) -> TenantResource:
    """One tenant, and what was agreed with it."""
    return _resource(await _found(services, id))


@router.patch("/{id}", responses=problems(400, 404, 413, 415, 422), dependencies=[Depends(json_only)])
async def change(id: PathTenant, body: TenantPatch, _: Admin, services: Offered) -> TenantResource:
    """Changes what is given, and nothing else; jobs that run go on."""
    before = await _found(services, id)
    agreed = {name: getattr(before, name) for name in TenantPlan.model_fields}
    plan = TenantPlan(**agreed | body.model_dump(exclude_unset=True))
    changed = await services.tenants.update(before.id, plan)
    if changed is None:
        raise missing("tenant", id)
    return _resource(changed)


@router.delete("/{id}", status_code=204, responses=problems(404, 409))
async def delete(id: PathTenant, caller: Admin, services: Offered) -> None:
    """Deletes it with its keys, jobs, reports, batches and webhooks. What runs for it stops."""
    if id == caller.tenant:
        raise Refusal("conflict", "A tenant cannot delete itself: this key would go with it. Use another's admin key.")
    if not await services.tenants.delete(TenantId(id)):
        raise missing("tenant", id)


async def _found(services: Offered, tenant: str) -> Tenant:
    found = await services.tenants.get(TenantId(tenant))
    if found is None:
        raise missing("tenant", tenant)
    return found


def _resource(tenant: Tenant) -> TenantResource:
    return TenantResource(**tenant.model_dump())
