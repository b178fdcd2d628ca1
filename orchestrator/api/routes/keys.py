"""`/v1/keys`: a tenant's API keys.

The secret of a new key can be answered a second time though nobody stores it: it is an HMAC of a nonce under the key
of the caller. The nonce is stored with the request when that has an Idempotency-Key, the caller's key never is: its
holder can be answered the same again, and a reader of the database learns nothing. Another key of the tenant that
repeats the request is refused.
"""

import datetime as dt
import hmac
import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.models import Frozen
from orchestrator.api.acting import actor_of
from orchestrator.api.authentication import Manager, bearer_token, require_scope, tenant_for
from orchestrator.api.common_schemas import Body, Moment, Page, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.idempotency import IdempotencyKey, idempotency_record, replayed_response, request_fingerprint
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import REPLAYABLE_HEADERS, problem_responses
from orchestrator.api.problems import HttpProblem, not_found
from orchestrator.api.routes.tenants import Name
from orchestrator.api.services import ServicesDependency
from orchestrator.jobs.api_keys import ApiKey, GeneratedKey, KeyPlan, Scope, generate_key
from orchestrator.jobs.models import KeyId, TenantId, TenantName
from orchestrator.store.idempotency import RecordedResponse

__all__ = ["Key", "KeyBody", "KeyCreation", "KeysQuery", "NewKey", "router"]


class KeyBody(Body):
    name: Name
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=5)
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Null: the service's setting."""
    expires_at: Moment | None = None
    """Null: never."""
    tenant: TenantName | None = None
    """For another tenant than one's own the scope `admin` is needed."""


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
    """Null: the service's setting."""
    created_at: dt.datetime
    expires_at: dt.datetime | None
    """Null: never."""
    revoked_at: dt.datetime | None


class KeysQuery(Body):
    tenant: TenantName | None = None
    """For another tenant than one's own the scope `admin` is needed."""


router = APIRouter(prefix="/v1/keys", tags=["keys"])


@router.post(
    "",
    status_code=201,
    response_model=NewKey,
    responses={
        201: {"description": "Created", "headers": REPLAYABLE_HEADERS},
        **problem_responses(400, 404, 413, 415, 422),
    },
    dependencies=[Depends(json_only)],
)
async def create(
    body: KeyBody,
    request: Request,
    caller: Manager,
    services: ServicesDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Creates a key. Only this answer contains the key itself, and the answer to the same request sent again."""
    tenant = tenant_for(caller, body.tenant)
    if not {"admin", "metrics"}.isdisjoint(body.scopes):
        require_scope(caller, "admin")
    if body.expires_at is not None and body.expires_at <= services.clock.now():
        raise HttpProblem.invalid("It is in the past.", "/expires_at")
    plan = KeyPlan(**body.model_dump(exclude={"tenant"}) | {"scopes": frozenset(body.scopes)})
    creation = KeyCreation(tenant=tenant, plan=plan, nonce=secrets.token_hex(32))
    caller_key = bearer_token(request.scope)
    fingerprint = request_fingerprint(request, await request.body(), caller.key)
    generated = creation.generated(caller_key)
    record = idempotency_record(
        idempotency_key, fingerprint, 201, creation.model_dump_json().encode(), _path(generated.id)
    )
    created = await services.keys.create(tenant, plan, generated, record, by=caller.tenant, actor=actor_of(caller))
    if created is None:
        raise not_found("tenant", tenant)
    if isinstance(created, RecordedResponse):
        before = KeyCreation.model_validate_json(created.body).answer(caller_key)
        return replayed_response(created._replace(body=before.model_dump_json().encode()))
    content = creation.answer(caller_key).model_dump_json()
    return Response(content, 201, {"Location": _path(generated.id), "Cache-Control": "no-store"}, "application/json")


@router.get("", responses=problem_responses(422))
async def listed(query: Annotated[KeysQuery, Query()], caller: Manager, services: ServicesDependency) -> Page[Key]:
    """A tenant's keys, the newest first, revoked ones included."""
    found = await services.keys.list(tenant_for(caller, query.tenant))
    return Page(items=tuple(map(_resource, found)), next=None)


@router.get("/{id}", responses=problem_responses(404, 422))
async def one(id: PathId, query: Annotated[KeysQuery, Query()], caller: Manager, services: ServicesDependency) -> Key:
    """One key, without its secret."""
    found = await services.keys.get(tenant_for(caller, query.tenant), KeyId(id))
    if found is None:
        raise not_found("key", id)
    return _resource(found)


@router.delete("/{id}", responses=problem_responses(404, 422))
async def revoke(
    id: PathId, query: Annotated[KeysQuery, Query()], caller: Manager, services: ServicesDependency
) -> Key:
    """Revokes it for good, from the next request on. A key may revoke itself."""
    tenant, now = tenant_for(caller, query.tenant), services.clock.now()
    revoked = await services.keys.revoke(tenant, KeyId(id), actor_of(caller), now)
    if revoked is None:
        raise not_found("key", id)
    return _resource(revoked)


def _path(key: str) -> str:
    return f"/v1/keys/{key}"


def _resource(key: ApiKey) -> Key:
    return Key(**key.model_dump(exclude={"scopes"}), scopes=tuple(sorted(key.scopes)))


class KeyCreation(Frozen):
    """What is stored of the answer to a request for a key."""

    tenant: TenantId
    plan: KeyPlan
    nonce: str
    """256 random bits, as hexadecimal digits."""

    def generated(self, caller_key: str) -> GeneratedKey:
        """The same for the same key of the caller."""
        return generate_key(
            lambda size: hmac.digest(caller_key.encode(), f"assayer {size} {self.nonce}".encode(), "sha256")[:size]
        )

    def answer(self, caller_key: str) -> NewKey:
        generated = self.generated(caller_key)
        return NewKey(
            id=generated.id,
            tenant=self.tenant,
            name=self.plan.name,
            scopes=tuple(sorted(self.plan.scopes)),
            requests_per_minute=self.plan.requests_per_minute,
            expires_at=self.plan.expires_at,
            secret=generated.secret,
        )
