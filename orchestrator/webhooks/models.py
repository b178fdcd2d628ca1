"""Webhooks of tenants, and the deliveries to them."""

import datetime as dt
from typing import Any, Literal, NamedTuple, NewType, TypeAlias
from uuid import UUID

from assayer.models import Frozen
from orchestrator.jobs.models import TenantId

__all__ = ["EVENTS", "ClaimedDelivery", "Delivery", "DeliveryState", "Webhook", "WebhookEvent", "WebhookId"]

WebhookId = NewType("WebhookId", str)
WebhookEvent: TypeAlias = Literal[
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
"""finished: it has ended, however it ended; the payload says how."""
DeliveryState: TypeAlias = Literal["pending", "delivered", "dead"]


class Webhook(Frozen):
    """Without its secret."""

    id: WebhookId
    tenant: TenantId
    url: str
    events: tuple[WebhookEvent, ...]
    created_at: dt.datetime


class Delivery(Frozen):
    """One message to one webhook, as it stands."""

    id: UUID
    type: str
    state: DeliveryState
    attempt: int
    """How often it was sent."""
    next_at: dt.datetime | None
    """When it is sent again; None unless it is pending."""
    said: str
    """How the last attempt ended."""
    created_at: dt.datetime


class ClaimedDelivery(NamedTuple):
    """A delivery that is due, claimed for a while by one process."""

    id: UUID
    webhook: WebhookId
    url: str
    sealed: str
    """The encrypted secret."""
    payload: dict[str, Any]
    attempt: int
    """From 1: this one."""
