"""Claimed deliveries to the webhooks of tenants."""

from typing import Any, NamedTuple, NewType
from uuid import UUID

WebhookId = NewType("WebhookId", str)


class ClaimedDelivery(NamedTuple):
    """A delivery that is due, claimed for a limited time by one process."""

    id: UUID
    webhook: WebhookId
    url: str
    sealed: str
    """The encrypted secret."""
    payload: dict[str, Any]
    attempt: int
    """Number of this attempt, from 1."""
