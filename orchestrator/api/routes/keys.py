"""`/v1/keys`: a tenant's API keys."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from orchestrator.api.accounts import Key, KeyBody, KeysQuery, NewKey
from orchestrator.api.documented import REPLAYABLE, problems
from orchestrator.api.idempotency import IdempotencyKey, fingerprint, once, replayed
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import missing
from orchestrator.api.minting import Minting
from orchestrator.api.problems import Refusal
from orchestrator.api.resources import Page
from orchestrator.api.security import Manager, json_only, require, tenant_for, token_of
from orchestrator.api.services import Offered
from orchestrator.jobs.idempotency import Replay
from orchestrator.jobs.models import KeyId
from orchestrator.jobs.tenancy import ApiKey, KeyPlan

__all__ = ["router"]

router = APIRouter(prefix="/v1/keys", tags=["keys"])


@router.post(
    "",
    status_code=201,
    response_model=NewKey,
    responses={201: {"description": "Made", "headers": REPLAYABLE}, **problems(400, 404, 413, 415, 422)},
    dependencies=[Depends(json_only)],
)
async def create(
    body: KeyBody, request: Request, caller: Manager, services: Offered, idempotency_key: IdempotencyKey = None
) -> Response:
    """Makes a key. Only this answer holds it, and what the same request is answered again."""
    tenant = tenant_for(caller, body.tenant)
    if "admin" in body.scopes:
        require(caller, "admin")
    if body.expires_at is not None and body.expires_at <= services.clock.now():
        raise Refusal.invalid("It lies in the past.", "/expires_at")
    plan = KeyPlan(**body.model_dump(exclude={"tenant"}) | {"scopes": frozenset(body.scopes)})
    minting = Minting(tenant=tenant, plan=plan, nonce=secrets.token_hex(32))
    asker = token_of(request.scope)
    asked = fingerprint(request, await request.body(), caller.key)
    drawn = minting.drawn(asker)
    keep = once(idempotency_key, asked, 201, minting.model_dump_json().encode(), _path(drawn.id))
    made = await services.keys.create(tenant, plan, drawn, keep, by=caller.tenant)
    if made is None:
        raise missing("tenant", tenant)
    if isinstance(made, Replay):
        before = Minting.model_validate_json(made.body).answer(asker)
        return replayed(made._replace(body=before.model_dump_json().encode()))
    told = minting.answer(asker).model_dump_json()
    return Response(told, 201, {"Location": _path(drawn.id), "Cache-Control": "no-store"}, "application/json")


@router.get("", responses=problems(422))
async def listed(query: Annotated[KeysQuery, Query()], caller: Manager, services: Offered) -> Page[Key]:
    """A tenant's keys, the newest first, revoked ones included."""
    found = await services.keys.list(tenant_for(caller, query.tenant))
    return Page(items=tuple(map(_resource, found)), next=None)


@router.get("/{id}", responses=problems(404, 422))
async def one(id: PathId, query: Annotated[KeysQuery, Query()], caller: Manager, services: Offered) -> Key:
    """One key, which is not the key itself."""
    found = await services.keys.get(tenant_for(caller, query.tenant), KeyId(id))
    if found is None:
        raise missing("key", id)
    return _resource(found)


@router.delete("/{id}", responses=problems(404, 422))
async def revoke(id: PathId, query: Annotated[KeysQuery, Query()], caller: Manager, services: Offered) -> Key:
    """Revokes it from the next request on, for good; also one's own."""
    revoked = await services.keys.revoke(tenant_for(caller, query.tenant), KeyId(id), services.clock.now())
    if revoked is None:
        raise missing("key", id)
    return _resource(revoked)


def _path(key: str) -> str:
    return f"/v1/keys/{key}"


def _resource(key: ApiKey) -> Key:
    return Key(**key.model_dump(exclude={"scopes"}), scopes=tuple(sorted(key.scopes)))
