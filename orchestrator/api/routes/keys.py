"""Routes `/v1/keys`: a tenant's API keys.

A new key's secret is not stored, yet a repeated request returns it again: the secret is an HMAC of a nonce under the
caller's own key. If the request has an Idempotency-Key, the nonce is stored; the caller's key never is. The caller can
therefore get the same response again, while somebody who reads the database learns nothing. A request repeated with a
different key is rejected."""

import hmac
import secrets
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from assayer.models import Frozen
from assayer_client.accounts import Key, KeyBody, NewKey
from assayer_client.resources import Page, TenantName
from orchestrator.access.api_keys import ApiKey, GeneratedKey, KeyPlan, generate_key
from orchestrator.api.idempotency import CreationDependency, build_replayed_response
from orchestrator.api.openapi import CREATED_RESPONSE
from orchestrator.api.url_queries import UrlQuery
from orchestrator.jobs.models import KeyId, TenantId
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.store.idempotency import RecordedResponse
from orchestrator.web.authentication import Manager, read_bearer_token, require_scope, resolve_tenant
from orchestrator.web.path_parameters import PathId


class KeysQuery(UrlQuery):
    tenant: TenantName | None = None
    """The tenant that owns the keys; by default, the caller's. Any other tenant requires the scope `admin`."""


router = APIRouter(prefix="/v1/keys", tags=["keys"])


@router.post("", status_code=201, response_model=NewKey, responses=CREATED_RESPONSE)
async def create_key(body: KeyBody, context: Manager, creation: CreationDependency) -> Response:
    """Create a key. Only this response, and the response to an identical repeated request, contains the secret."""
    tenant = resolve_tenant(context.caller, body.tenant)
    if not {"admin", "metrics"}.isdisjoint(body.scopes):
        require_scope(context.caller, "admin")
    if body.expires_at is not None and body.expires_at <= context.now:
        raise HttpProblem.invalid("The expiry date is in the past.", "/expires_at")
    plan = KeyPlan(**body.model_dump(exclude={"tenant"}) | {"scopes": frozenset(body.scopes)})
    creation_data = KeyCreation(tenant=tenant, plan=plan, nonce=secrets.token_hex(32))
    caller_key = read_bearer_token(creation.request.scope)
    new_key = creation_data.generate(caller_key)
    record = await creation.build_record(
        creation_data.model_dump_json().encode(), _build_path(new_key.id), context.caller.key
    )
    stored_key = await context.services.keys.create(
        tenant, plan, new_key, record, by=context.tenant, actor=context.caller.actor
    )
    if stored_key is None:
        raise build_not_found_problem("tenant", tenant)
    if isinstance(stored_key, RecordedResponse):
        earlier_body = KeyCreation.model_validate_json(stored_key.body).build_response_body(caller_key)
        return build_replayed_response(stored_key._replace(body=earlier_body.model_dump_json().encode()))
    content = creation_data.build_response_body(caller_key).model_dump_json()
    return Response(
        content, 201, {"Location": _build_path(new_key.id), "Cache-Control": "no-store"}, "application/json"
    )


@router.get("")
async def list_keys(query: Annotated[KeysQuery, Query()], context: Manager) -> Page[Key]:
    """List a tenant's keys, newest first, including revoked ones."""
    keys = await context.services.keys.list(resolve_tenant(context.caller, query.tenant))
    return Page(items=tuple(map(_build_resource, keys)), next=None)


@router.get("/{id}")
async def get_key(id: PathId, query: Annotated[KeysQuery, Query()], context: Manager) -> Key:
    """Return a key without its secret."""
    key = await context.services.keys.get(resolve_tenant(context.caller, query.tenant), KeyId(id))
    return _build_resource(require(key, build_not_found_problem("key", id)))


@router.delete("/{id}")
async def revoke_key(id: PathId, query: Annotated[KeysQuery, Query()], context: Manager) -> Key:
    """Revoke a key permanently, with immediate effect. A key can revoke itself."""
    revoked_key = await context.services.keys.revoke(
        resolve_tenant(context.caller, query.tenant), KeyId(id), context.by
    )
    return _build_resource(require(revoked_key, build_not_found_problem("key", id)))


def _build_path(key: str) -> str:
    return f"/v1/keys/{key}"


def _build_resource(key: ApiKey) -> Key:
    return Key(**key.model_dump(exclude={"scopes"}), scopes=tuple(sorted(key.scopes)))


class KeyCreation(Frozen):
    """The stored data from which the response to a repeated request is rebuilt."""

    tenant: TenantId
    plan: KeyPlan
    nonce: str
    """A random 256-bit nonce in hexadecimal."""

    def generate(self, caller_key: str) -> GeneratedKey:
        """Generate the key. The result is always the same for the same caller's key."""
        return generate_key(
            lambda size: hmac.digest(caller_key.encode(), f"assayer {size} {self.nonce}".encode(), "sha256")[:size]
        )

    def build_response_body(self, caller_key: str) -> NewKey:
        new_key = self.generate(caller_key)
        return NewKey(
            id=new_key.id,
            tenant=self.tenant,
            name=self.plan.name,
            scopes=tuple(sorted(self.plan.scopes)),
            requests_per_minute=self.plan.requests_per_minute,
            expires_at=self.plan.expires_at,
            secret=new_key.secret,
        )
