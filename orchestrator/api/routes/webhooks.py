"""`/v1/webhooks`: addresses that are notified when jobs end."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.errors import AddressRefused, ConfigurationError
from orchestrator.api.authentication import Manager
from orchestrator.api.common_schemas import Body, Page, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.idempotency import IdempotencyKey, idempotency_record, replayed_response, request_fingerprint
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import REPLAYABLE_HEADERS, problem_responses
from orchestrator.api.problems import HttpProblem, not_found
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.models import TenantId
from orchestrator.store.idempotency import RecordedResponse
from orchestrator.webhooks.models import EVENTS, Delivery, DeliveryState, Webhook, WebhookEvent, WebhookId
from orchestrator.webhooks.secrets import SecretCipher, generate_secret

__all__ = [
    "DeliveriesQuery",
    "DeliveryResource",
    "NewWebhook",
    "WebhookBody",
    "WebhookResource",
    "delivery_resource",
    "router",
    "webhook_resource",
]


class WebhookBody(Body):
    url: str = Field(min_length=1, max_length=2_000)
    """A public https address."""
    events: tuple[WebhookEvent, ...] = Field(default=EVENTS, min_length=1, max_length=len(EVENTS))
    """What it is notified of; finished means ended, however it ended."""


class NewWebhook(Resource):
    id: str
    url: str
    events: tuple[WebhookEvent, ...]
    secret: str
    """Signs the messages (standardwebhooks.com). It is shown here and never again."""


class WebhookResource(Resource):
    id: str
    url: str
    events: tuple[WebhookEvent, ...]
    created_at: dt.datetime


class DeliveriesQuery(Body):
    limit: int = Field(default=50, ge=1, le=500)


class DeliveryResource(Resource):
    id: str
    """The `webhook-id` of the message, however often it is sent."""
    type: str
    state: DeliveryState
    """dead: given up after the last attempt."""
    attempt: int
    """How often it was sent."""
    next_at: dt.datetime | None
    """When it is sent again; null unless it is pending."""
    said: str
    """How the last attempt ended."""
    created_at: dt.datetime


router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

_MOST = 20


@router.post(
    "",
    status_code=201,
    response_model=NewWebhook,
    responses={
        201: {"description": "Created", "headers": REPLAYABLE_HEADERS},
        **problem_responses(400, 409, 413, 415, 422, 501),
    },
    dependencies=[Depends(json_only)],
)
async def create(
    body: WebhookBody,
    request: Request,
    caller: Manager,
    services: ServicesDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Creates a webhook. Only this answer contains its secret, and the answer to the same request sent again."""
    try:
        services.check_address(body.url)
    except AddressRefused as error:
        raise HttpProblem.invalid(error.message, "/url") from None
    new = NewWebhook(
        id=services.new_id("wh"), url=body.url, events=tuple(sorted(set(body.events))), secret=generate_secret()
    )
    path = f"/v1/webhooks/{new.id}"
    try:
        encrypted = new.model_copy(update={"secret": services.cipher.encrypt(new.secret)})
        stored = encrypted.model_dump_json().encode()
        record = idempotency_record(
            idempotency_key, request_fingerprint(request, await request.body()), 201, stored, path
        )
        created = await services.webhooks.add(
            caller.tenant, WebhookId(new.id), new.url, encrypted.secret, new.events, most=_MOST, record=record
        )
        if isinstance(created, RecordedResponse):
            return replayed_response(_with_plain_secret(created, services.cipher))
    except ConfigurationError as error:
        raise HttpProblem("not-configured", str(error)) from None
    if created is None:
        raise HttpProblem(
            "conflict", f"The tenant has {_MOST} webhooks, which is the most that it may have. Delete one first."
        )
    return Response(new.model_dump_json(), 201, {"Location": path, "Cache-Control": "no-store"}, "application/json")


def _with_plain_secret(replay: RecordedResponse, cipher: SecretCipher) -> RecordedResponse:
    """The answer as it was given. Raises ConfigurationError."""
    encrypted = NewWebhook.model_validate_json(replay.body)
    return replay._replace(
        body=encrypted.model_copy(update={"secret": cipher.decrypt(encrypted.secret)}).model_dump_json().encode()
    )


@router.get("", responses=problem_responses())
async def listed(caller: Manager, services: ServicesDependency) -> Page[WebhookResource]:
    """One's own webhooks, the newest first."""
    return Page(items=tuple(map(webhook_resource, await services.webhooks.list_for(caller.tenant))), next=None)


@router.get("/{id}", responses=problem_responses(404, 422))
async def one(id: PathId, caller: Manager, services: ServicesDependency) -> WebhookResource:
    """One webhook, without its secret."""
    return webhook_resource(await _find_webhook(services, caller.tenant, id))


@router.get("/{id}/deliveries", responses=problem_responses(404, 422))
async def deliveries(
    id: PathId, query: Annotated[DeliveriesQuery, Query()], caller: Manager, services: ServicesDependency
) -> Page[DeliveryResource]:
    """Its recent and pending deliveries, the newest first."""
    webhook = await _find_webhook(services, caller.tenant, id)
    found = await services.webhooks.deliveries(caller.tenant, webhook.id, query.limit)
    return Page(items=tuple(map(delivery_resource, found)), next=None)


@router.post("/{id}/ping", status_code=202, responses=problem_responses(404, 422))
async def ping(id: PathId, caller: Manager, services: ServicesDependency) -> DeliveryResource:
    """Sends it a message of the type `ping`, signed as all are; its deliveries tell what came of it."""
    sent = await services.webhooks.ping(caller.tenant, WebhookId(id))
    if sent is None:
        raise not_found("webhook", id)
    return delivery_resource(sent)


@router.delete("/{id}", status_code=204, responses=problem_responses(404, 422))
async def delete(id: PathId, caller: Manager, services: ServicesDependency) -> None:
    """Deletes it, with its pending deliveries."""
    if not await services.webhooks.delete(caller.tenant, WebhookId(id)):
        raise not_found("webhook", id)


async def _find_webhook(services: Services, tenant: TenantId, webhook: str) -> Webhook:
    """Raises HttpProblem (404)."""
    for candidate in await services.webhooks.list_for(tenant):
        if candidate.id == webhook:
            return candidate
    raise not_found("webhook", webhook)


def webhook_resource(webhook: Webhook) -> WebhookResource:
    return WebhookResource(**webhook.model_dump(exclude={"tenant"}))


def delivery_resource(delivery: Delivery) -> DeliveryResource:
    return DeliveryResource(**delivery.model_dump(exclude={"id"}), id=f"msg_{delivery.id.hex}")
