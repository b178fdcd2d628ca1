"""Webhooks: the service calls an address of yours when something has ended."""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any, Literal

from assayer_client.errors import InvalidRequest
from assayer_client.requests import ApiCall, path, reads, reads_nothing
from assayer_client.resources import Body, Page, Resource

WebhookEvent = Literal[
    "evaluation.finished",
    "comparison.finished",
    "ranking.finished",
    "rewards.finished",
    "curation.finished",
    "proposal.finished",
    "score.finished",
    "batch.finished",
]
EVENTS: tuple[WebhookEvent, ...] = (
    "evaluation.finished",
    "comparison.finished",
    "ranking.finished",
    "rewards.finished",
    "curation.finished",
    "proposal.finished",
    "score.finished",
    "batch.finished",
)


class WebhookBody(Body):
    url: str
    """https, and public."""
    events: tuple[WebhookEvent, ...] = EVENTS
    """What is told there; finished means ended, whatever way."""


class NewWebhook(Resource):
    id: str
    url: str
    events: tuple[str, ...]
    secret: str
    """With which messages are signed (standardwebhooks.com). It is shown here and never again."""


class WebhookResource(Resource):
    id: str
    url: str
    events: tuple[str, ...]
    created_at: dt.datetime


class DeliveryResource(Resource):
    id: str
    """The `webhook-id` of the message, however often it is sent."""
    type: str
    state: str
    """dead: given up after the last try."""
    attempt: int
    """How often it was sent."""
    next_at: dt.datetime | None
    """When it is sent again; null unless it is pending."""
    said: str
    """How the last try ended."""
    created_at: dt.datetime


def create_webhook(body: WebhookBody, *, key: str | None = None) -> ApiCall[NewWebhook]:
    """Only this answer holds the secret, with which `verified` reads what comes."""
    return ApiCall("POST", path("webhooks"), reads(NewWebhook), body=body, key=key)


def webhooks() -> ApiCall[Page[WebhookResource]]:
    return ApiCall("GET", path("webhooks"), reads(Page[WebhookResource]))


def deliveries(webhook: str, *, limit: int = 50) -> ApiCall[Page[DeliveryResource]]:
    """What was sent, and what was said to it; the newest first."""
    return ApiCall(
        "GET", path("webhooks", webhook, "deliveries"), reads(Page[DeliveryResource]), query={"limit": limit}
    )


def ping_webhook(webhook: str) -> ApiCall[DeliveryResource]:
    """Sends it a message of the type `ping`; `deliveries` tells what came of it."""
    return ApiCall("POST", path("webhooks", webhook, "ping"), reads(DeliveryResource))


def delete_webhook(webhook: str) -> ApiCall[None]:
    return ApiCall("DELETE", path("webhooks", webhook), reads_nothing)


def verified(body: bytes, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """The message, if it was signed with the webhook's secret within five minutes of now (standardwebhooks.com).
    `body` is what came, to the byte. Raises InvalidRequest for anything else: answer 400, and do nothing it says."""
    from standardwebhooks import Webhook, WebhookVerificationError

    try:
        Webhook(secret).verify(body, dict(headers), json_parse=False)
        message = json.loads(body)
    except (WebhookVerificationError, ValueError, IndexError) as error:
        raise InvalidRequest(f"The message was not signed by the service: {error}.") from None
    if not isinstance(message, dict):
        raise InvalidRequest("The message is no object.")
    return message
