"""Where a tenant wants to be told, and what was or is still to be told there."""

import datetime as dt
import secrets
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, NewType, TypeAlias
from uuid import UUID

from assayer.models import Frozen
from orchestrator.jobs.models import TenantId

__all__ = [
    "EVENTS",
    "Delivery",
    "DeliveryState",
    "Dispatch",
    "Webhook",
    "WebhookEvent",
    "WebhookId",
    "draw_secret",
]

WebhookId = NewType("WebhookId", str)
WebhookEvent: TypeAlias = Literal["evaluation.finished", "comparison.finished", "ranking.finished", "batch.finished"]
EVENTS: tuple[WebhookEvent, ...] = (
    "evaluation.finished",
    "comparison.finished",
    "ranking.finished",
    "batch.finished",
)
"""finished: it ended, whatever way: the payload says which."""
DeliveryState: TypeAlias = Literal["pending", "delivered", "dead"]

_SECRET_BYTES = 32


class Webhook(Frozen):
    """What is told of it: not the secret."""

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
    """How the last try ended."""
    created_at: dt.datetime


class Dispatch(NamedTuple):
    """A delivery whose turn has come, and whose it is for a while."""

    id: UUID
    webhook: WebhookId
    url: str
    sealed: str
    """The secret, as it is kept."""
    payload: dict[str, Any]
    attempt: int
    """From 1: this one."""


def draw_secret(random: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """As Standard Webhooks writes it."""
    return f"whsec_{b64encode(random(_SECRET_BYTES)).decode()}"
