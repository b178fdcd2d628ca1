"""Bodies and resources of webhooks; shared with the client."""

import datetime as dt

from pydantic import Field

from orchestrator.api.resources import Body, Resource
from orchestrator.webhooks.models import EVENTS, Delivery, DeliveryState, Webhook, WebhookEvent

__all__ = [
    "DeliveriesQuery",
    "DeliveryResource",
    "NewWebhook",
    "WebhookBody",
    "WebhookResource",
    "delivery_of",
    "webhook_of",
]


class WebhookBody(Body):
    url: str = Field(min_length=1, max_length=2_000)
    """https, and public."""
    events: tuple[WebhookEvent, ...] = Field(default=EVENTS, min_length=1, max_length=len(EVENTS))
    """What is told there; finished means ended, whatever way."""


class NewWebhook(Resource):
    id: str
    url: str
    events: tuple[WebhookEvent, ...]
    secret: str
    """With which messages are signed (standardwebhooks.com). It is shown here and never again."""


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
    """dead: given up after the last try."""
    attempt: int
    """How often it was sent."""
    next_at: dt.datetime | None
    """When it is sent again; null unless it is pending."""
    said: str
    """How the last try ended."""
    created_at: dt.datetime


def webhook_of(webhook: Webhook) -> WebhookResource:
    return WebhookResource(**webhook.model_dump(exclude={"tenant"}))


def delivery_of(delivery: Delivery) -> DeliveryResource:
    return DeliveryResource(**delivery.model_dump(exclude={"id"}), id=f"msg_{delivery.id.hex}")
