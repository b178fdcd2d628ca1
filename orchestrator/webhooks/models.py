"""Claimed deliveries to tenants' webhooks."""

from typing import Any, NamedTuple, NewType
from uuid import UUID

WebhookId = NewType("WebhookId", str)


class ClaimedDelivery(NamedTuple):
    """Due delivery, claimed for a limited time by one process."""

    id: UUID
    webhook: WebhookId
    url: str
    sealed: str
    """Encrypted secret."""
    payload: dict[str, Any]
    attempt: int
    """Number of this attempt, from 1."""
