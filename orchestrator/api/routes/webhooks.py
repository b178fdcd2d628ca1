"""`/v1/webhooks`: addresses that are told how jobs ended."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from assayer.errors import AddressRefused, ConfigurationError
from orchestrator.api.documented import REPLAYABLE, problems
from orchestrator.api.idempotency import IdempotencyKey, fingerprint, once, replayed
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import missing
from orchestrator.api.problems import Refusal
from orchestrator.api.resources import Page
from orchestrator.api.security import Manager, json_only
from orchestrator.api.services import Offered, Services
from orchestrator.api.webhook_resources import (
    DeliveriesQuery,
    DeliveryResource,
    NewWebhook,
    WebhookBody,
    WebhookResource,
    delivery_of,
    webhook_of,
)
from orchestrator.jobs.idempotency import Replay
from orchestrator.jobs.models import TenantId
from orchestrator.webhooks.models import Webhook, WebhookId, draw_secret
from orchestrator.webhooks.sealing import Seal

__all__ = ["router"]

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

_MOST = 20


@router.post(
    "",
    status_code=201,
    response_model=NewWebhook,
    responses={201: {"description": "Made", "headers": REPLAYABLE}, **problems(400, 409, 413, 415, 422, 501)},
    dependencies=[Depends(json_only)],
)
async def create(
    body: WebhookBody, request: Request, caller: Manager, services: Offered, idempotency_key: IdempotencyKey = None
) -> Response:
    """Makes a webhook. Only this answer holds its secret, and what the same request is answered again."""
    try:
        services.check_address(body.url)
    except AddressRefused as error:
        raise Refusal.invalid(error.message, "/url") from None
    new = NewWebhook(id=services.ids("wh"), url=body.url, events=tuple(sorted(set(body.events))), secret=draw_secret())
    path = f"/v1/webhooks/{new.id}"
    try:
        kept = new.model_copy(update={"secret": services.seal.close(new.secret)})
        stored = kept.model_dump_json().encode()
        keep = once(idempotency_key, fingerprint(request, await request.body()), 201, stored, path)
        made = await services.webhooks.add(
            caller.tenant, WebhookId(new.id), new.url, kept.secret, new.events, most=_MOST, once=keep
        )
        if isinstance(made, Replay):
            return replayed(_opened(made, services.seal))
    except ConfigurationError as error:
        raise Refusal("not-configured", str(error)) from None
    if made is None:
        raise Refusal("conflict", f"There may be {_MOST} webhooks a tenant, and there are. Delete one first.")
    return Response(new.model_dump_json(), 201, {"Location": path, "Cache-Control": "no-store"}, "application/json")


def _opened(replay: Replay, seal: Seal) -> Replay:
    """The answer as it was given. Raises ConfigurationError."""
    kept = NewWebhook.model_validate_json(replay.body)
    return replay._replace(body=kept.model_copy(update={"secret": seal.open(kept.secret)}).model_dump_json().encode())


@router.get("", responses=problems())
async def listed(caller: Manager, services: Offered) -> Page[WebhookResource]:
    """One's own webhooks, the newest first."""
    return Page(items=tuple(map(webhook_of, await services.webhooks.of(caller.tenant))), next=None)


@router.get("/{id}", responses=problems(404, 422))
async def one(id: PathId, caller: Manager, services: Offered) -> WebhookResource:
    """One webhook, without its secret."""
    return webhook_of(await _found(services, caller.tenant, id))


@router.get("/{id}/deliveries", responses=problems(404, 422))
async def deliveries(
    id: PathId, query: Annotated[DeliveriesQuery, Query()], caller: Manager, services: Offered
) -> Page[DeliveryResource]:
    """What was told there lately, and what is still to be told, the newest first."""
    webhook = await _found(services, caller.tenant, id)
    found = await services.webhooks.deliveries(caller.tenant, webhook.id, query.limit)
    return Page(items=tuple(map(delivery_of, found)), next=None)


@router.delete("/{id}", status_code=204, responses=problems(404, 422))
async def delete(id: PathId, caller: Manager, services: Offered) -> None:
    """Deletes it, with all that is still to be told there."""
    if not await services.webhooks.delete(caller.tenant, WebhookId(id)):
        raise missing("webhook", id)


async def _found(services: Services, tenant: TenantId, webhook: str) -> Webhook:
    """Raises Refusal (404)."""
    for one_of in await services.webhooks.of(tenant):
        if one_of.id == webhook:
            return one_of
    raise missing("webhook", webhook)
