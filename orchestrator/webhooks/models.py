"""Webhooks of tenants, and the deliveries to them."""

import datetime as dt
from typing import Any, NamedTuple, NewType
from uuid import UUID

from assayer.models import Frozen
from assayer_client.webhooks import EVENTS, DeliveryState, WebhookEvent
from orchestrator.jobs.models import TenantId

__all__ = ["EVENTS", "ClaimedDelivery", "Delivery", "DeliveryState", "Webhook", "WebhookEvent", "WebhookId"]

WebhookId = NewType("WebhookId", str)


class Webhook(Frozen):
    """Without its secret."""

    id: WebhookId
    tenant: TenantId
    url: str
    events: tuple[WebhookEvent, ...]
    created_at: dt.datetime


class Delivery(Frozen):
    """Current state of a message to a webhook."""

    id: UUID
    type: str
    state: DeliveryState
    attempt: int
    """Number of times the message was sent."""
    next_at: dt.datetime | None
    """Time of the next attempt; None unless the delivery is pending."""
    said: str
    """Outcome of the last attempt."""
    created_at: dt.datetime


class ClaimedDelivery(NamedTuple):
    """A delivery that is due, claimed for a limited time by one process."""

    id: UUID
    webhook: WebhookId
    url: str
    sealed: str
    """The encrypted secret."""
    payload: dict[str, Any]
    attempt: int
    """From 1: this one."""
