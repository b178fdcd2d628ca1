"""Headers by which a receiver knows that a message is ours and new (Standard Webhooks 1.0)."""

import datetime as dt
from uuid import UUID

from standardwebhooks import Webhook

__all__ = ["signed_headers"]


def signed_headers(secret: str, delivery: UUID, at: dt.datetime, body: str) -> dict[str, str]:
    """`webhook-id` stays the same when a message is sent again: a receiver acts once on each."""
    name = f"msg_{delivery.hex}"
    return {
        "Content-Type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(name, at, body),
    }
