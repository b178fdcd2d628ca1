"""Routes `/v1/webhooks`: URLs that are notified when jobs and batches end."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from assayer.errors import AddressRefused, ConfigurationError
from assayer_client.resources import Page
from assayer_client.webhooks import DeliveryResource, NewWebhook, WebhookBody, WebhookResource
from orchestrator.api.idempotency import CreationDependency, build_replayed_response
from orchestrator.api.openapi import CREATED_RESPONSE
from orchestrator.api.url_queries import UrlQuery
from orchestrator.jobs.models import TenantId
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.store.idempotency import RecordedResponse
from orchestrator.web.authentication import Manager
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services
from orchestrator.webhooks.models import WebhookId
from orchestrator.webhooks.secrets import SecretCipher, generate_secret


class DeliveriesQuery(UrlQuery):
    limit: int = Field(default=50, ge=1, le=500)


router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

_MAX_WEBHOOKS = 20


@router.post("", status_code=201, response_model=NewWebhook, responses=CREATED_RESPONSE)
async def create_webhook(body: WebhookBody, context: Manager, creation: CreationDependency) -> Response:
    """Create a webhook. Only this response, and the response to an identical repeated request, contains its secret."""
    try:
        context.services.check_address(body.url)
    except AddressRefused as error:
        raise HttpProblem.invalid(error.message, "/url") from None
    events = tuple(sorted(set(body.events)))
    webhook = NewWebhook(id=context.services.new_id("wh"), url=body.url, events=events, secret=generate_secret())
    path = f"/v1/webhooks/{webhook.id}"
    try:
        encrypted_webhook = webhook.model_copy(update={"secret": context.services.cipher.encrypt(webhook.secret)})
        record = await creation.build_record(encrypted_webhook.model_dump_json().encode(), path)
        stored_webhook = await context.services.webhooks.add(
            context.tenant,
            WebhookId(webhook.id),
            webhook.url,
            encrypted_webhook.secret,
            events,
            max_webhooks=_MAX_WEBHOOKS,
            record=record,
        )
        if isinstance(stored_webhook, RecordedResponse):
            return build_replayed_response(_decrypt_secret(stored_webhook, context.services.cipher))
    except ConfigurationError as error:
        raise HttpProblem("not-configured", str(error)) from None
    if stored_webhook is None:
        raise HttpProblem(
            "conflict", f"The tenant already has {_MAX_WEBHOOKS} webhooks, the maximum. Delete one first."
        )
    return Response(webhook.model_dump_json(), 201, {"Location": path, "Cache-Control": "no-store"}, "application/json")


def _decrypt_secret(recorded_response: RecordedResponse, cipher: SecretCipher) -> RecordedResponse:
    """Return the recorded response with the secret decrypted. Raises ConfigurationError if it cannot be decrypted."""
    encrypted_webhook = NewWebhook.model_validate_json(recorded_response.body)
    return recorded_response._replace(
        body=encrypted_webhook.model_copy(update={"secret": cipher.decrypt(encrypted_webhook.secret)})
        .model_dump_json()
        .encode()
    )


@router.get("")
async def list_webhooks(context: Manager) -> Page[WebhookResource]:
    """List the tenant's webhooks, newest first."""
    return Page(items=tuple(await context.services.webhooks.list_webhooks(context.tenant)), next=None)


@router.get("/{id}")
async def get_webhook(id: PathId, context: Manager) -> WebhookResource:
    """Return a webhook without its secret."""
    return await _find_webhook(context.services, context.tenant, id)


@router.get("/{id}/deliveries")
async def list_deliveries(
    id: PathId, query: Annotated[DeliveriesQuery, Query()], context: Manager
) -> Page[DeliveryResource]:
    """List a webhook's recent and pending deliveries, newest first."""
    webhook = await _find_webhook(context.services, context.tenant, id)
    deliveries = await context.services.webhooks.list_deliveries(context.tenant, WebhookId(webhook.id), query.limit)
    return Page(items=tuple(deliveries), next=None)


@router.post("/{id}/ping", status_code=202)
async def ping_webhook(id: PathId, context: Manager) -> DeliveryResource:
    """Send a `ping` message to a webhook, signed like any other message. The result appears among the webhook's
    deliveries."""
    delivery = await context.services.webhooks.ping(context.tenant, WebhookId(id))
    return require(delivery, build_not_found_problem("webhook", id))


@router.delete("/{id}", status_code=204)
async def delete_webhook(id: PathId, context: Manager) -> None:
    """Delete a webhook with its pending deliveries."""
    if not await context.services.webhooks.delete(context.tenant, WebhookId(id)):
        raise build_not_found_problem("webhook", id)


async def _find_webhook(services: Services, tenant: TenantId, webhook: str) -> WebhookResource:
    """Return a webhook. Raises HttpProblem if it does not exist."""
    return require(await services.webhooks.get(tenant, WebhookId(webhook)), build_not_found_problem("webhook", webhook))
