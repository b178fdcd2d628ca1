"""Deliveries to tenants' webhooks."""

from typing import Any, NamedTuple, NewType
from uuid import UUID

WebhookId = NewType("WebhookId", str)


class ClaimedDelivery(NamedTuple):
    """Delivery that is due, claimed by a process for a limited time."""

    id: UUID
    webhook: WebhookId
    url: str
    sealed: str
    """Encrypted secret of the webhook."""
    payload: dict[str, Any]
    attempt: int
    """Number of this attempt, from 1."""
