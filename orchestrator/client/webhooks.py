"""For whoever receives the service's webhooks: whether a message comes from it, and what it says."""

import json
from collections.abc import Mapping
from typing import Any

from assayer.errors import InputError

__all__ = ["verified"]


def verified(body: bytes, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """The message, if it was signed with the webhook's secret within five minutes of now (standardwebhooks.com).
    `body` is what came, to the byte. Raises InputError for anything else: answer 400 to it, and do nothing it says."""
    from standardwebhooks import Webhook, WebhookVerificationError

    try:
        Webhook(secret).verify(body, dict(headers), json_parse=False)
        message = json.loads(body)
    except (WebhookVerificationError, ValueError, IndexError) as error:
        raise InputError(f"The message was not signed by the service: {error}.") from None
    if not isinstance(message, dict):
        raise InputError("The message is no object.")
    return message
