"""`/v1/tenants`: who uses the service, and their limits and budgets. For the operator."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from pydantic import AfterValidator, Field

from orchestrator.api.acting import actor_of
from orchestrator.api.authentication import Admin
from orchestrator.api.common_schemas import Body, Page, PageQuery, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.idempotency import IdempotencyKey, idempotency_record, replayed_response, request_fingerprint
from orchestrator.api.openapi import REPLAYABLE_HEADERS, problem_responses
from orchestrator.api.problems import HttpProblem, not_found
from orchestrator.api.services import ServicesDependency
from orchestrator.jobs.models import Tenant, TenantId, TenantName, TenantPlan
from orchestrator.store.idempotency import RecordedResponse

__all__ = ["NewTenant", "TenantBody", "TenantPatch", "TenantResource", "TenantsQuery", "router"]


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("It should be a line of printable text")
    return text


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Usd = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class TenantPatch(Body):
    """The members given replace the current values; null means no limit."""

    name: Name = ""
    weight: float = Field(default=1.0, gt=0, le=1_000, allow_inf_nan=False)
    """Share of the service, relative to the weights of the other tenants with waiting jobs."""
    max_running: Count | None = None
    """Jobs at once."""
    max_queued: Count = 20_000
    """Further ones are refused."""
    monthly_usd: Usd | None = None
    """Of a calendar month in UTC."""
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """Jobs are deleted, with everything that belongs to them, so long after they ended."""


class TenantBody(TenantPatch):
    id: TenantName | None = None
    """Generated when it is not given."""
    name: Name


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


class TenantsQuery(PageQuery):
    after: TenantName | None = None
    """`next` of the page before."""


router = APIRouter(prefix="/v1/tenants", tags=["tenants"])

PathTenant = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


@router.post(
    "",
    status_code=201,
    response_model=NewTenant,
    responses={
        201: {"description": "Created", "headers": REPLAYABLE_HEADERS},
        **problem_responses(400, 409, 413, 415, 422),
    },
    dependencies=[Depends(json_only)],
)
async def create(
    body: TenantBody,
    request: Request,
    caller: Admin,
    services: ServicesDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Creates a tenant, without keys."""
    tenant = TenantId(body.id or services.new_id("tn"))
    plan = TenantPlan(**body.model_dump(exclude={"id"}))
    content = NewTenant(id=tenant, **plan.model_dump()).model_dump_json().encode()
    location = f"/v1/tenants/{tenant}"
    record = idempotency_record(
        idempotency_key, request_fingerprint(request, await request.body()), 201, content, location
    )
    created = await services.tenants.create(tenant, plan, record, by=caller.tenant)
    if created is None:
        raise HttpProblem("conflict", f"There is already a tenant {tenant!r}, with other settings.")
    if isinstance(created, RecordedResponse):
        return replayed_response(created)
    return Response(content, 201, {"Location": location}, "application/json")


@router.get("", responses=problem_responses(422))
async def listed(
    query: Annotated[TenantsQuery, Query()], _: Admin, services: ServicesDependency
) -> Page[TenantResource]:
    """All tenants, by id."""
    after = None if query.after is None else TenantId(query.after)
    tenants = await services.tenants.list(after=after, limit=query.limit + 1)
    page = tenants[: query.limit]
    return Page(items=tuple(map(_resource, page)), next=page[-1].id if len(tenants) > query.limit else None)


@router.get("/{id}", responses=problem_responses(404))
async def one(id: PathTenant, _: Admin, services: ServicesDependency) -> TenantResource:
    """One tenant, with its limits."""
    return _resource(await _found(services, id))


@router.patch("/{id}", responses=problem_responses(400, 404, 413, 415, 422), dependencies=[Depends(json_only)])
async def change(id: PathTenant, body: TenantPatch, _: Admin, services: ServicesDependency) -> TenantResource:
    """Changes the members given, and nothing else. Running jobs go on."""
    before = await _found(services, id)
    current = {name: getattr(before, name) for name in TenantPlan.model_fields}
    plan = TenantPlan(**current | body.model_dump(exclude_unset=True))
    changed = await services.tenants.update(before.id, plan)
    if changed is None:
        raise not_found("tenant", id)
    return _resource(changed)


@router.delete("/{id}", status_code=204, responses=problem_responses(404, 409))
async def delete(id: PathTenant, caller: Admin, services: ServicesDependency) -> None:
    """Deletes it with its keys, jobs, reports, batches, webhooks, and the words of its audit log, whose hashes stay.
    Its running jobs are stopped."""
    if id == caller.tenant:
        raise HttpProblem(
            "conflict", "A tenant cannot delete itself: this key would go with it. Use another tenant's admin key."
        )
    if not await services.tenants.delete(TenantId(id), actor_of(caller), services.clock.now()):
        raise not_found("tenant", id)


async def _found(services: ServicesDependency, tenant: str) -> Tenant:
    found = await services.tenants.get(TenantId(tenant))
    if found is None:
        raise not_found("tenant", tenant)
    return found


def _resource(tenant: Tenant) -> TenantResource:
    return TenantResource(**tenant.model_dump())
