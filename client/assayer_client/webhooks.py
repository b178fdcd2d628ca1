"""Webhooks: requests that the service sends to your URL when a job or batch has ended."""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import Field

from assayer_client.errors import InvalidRequest
from assayer_client.requests import ApiCall, build_path, make_json_parser
from assayer_client.resources import Body, Page, Resource

WebhookEvent = Literal[
    "evaluation.finished",
    "comparison.finished",
    "ranking.finished",
    "rewards.finished",
    "curation.finished",
    "candidate_ideas.finished",
    "score.finished",
    "batch.finished",
]
EVENTS: tuple[WebhookEvent, ...] = get_args(WebhookEvent)
DeliveryState = Literal["pending", "delivered", "failed"]


class WebhookBody(Body):
    url: str = Field(min_length=1, max_length=2_000)
    """Public https URL."""
    events: tuple[WebhookEvent, ...] = Field(default=EVENTS, min_length=1, max_length=len(EVENTS))
    """Events to send to the webhook; “finished” means ended with any outcome."""


class NewWebhook(Resource):
    id: str
    url: str
    events: tuple[str, ...]
    secret: str
    """Secret that signs the messages (standardwebhooks.com), shown only in this response."""


class WebhookResource(Resource):
    id: str
    url: str
    events: tuple[str, ...]
    created_at: dt.datetime


class DeliveryResource(Resource):
    id: str
    """Id of the message (`webhook-id`), the same for every attempt to send it."""
    type: str
    state: DeliveryState
    """Delivery state. failed: the last attempt failed, and no further attempts will be made."""
    attempt: int
    """Number of times the message was sent."""
    next_at: dt.datetime | None
    """Time of the next attempt; null unless the delivery is pending."""
    last_result: str
    """Outcome of the last attempt."""
    created_at: dt.datetime


def list_deliveries(webhook: str, *, limit: int = 50) -> ApiCall[Page[DeliveryResource]]:
    """List a webhook's messages, newest first, with their delivery outcomes."""
    return ApiCall(
        "GET",
        build_path("webhooks", webhook, "deliveries"),
        make_json_parser(Page[DeliveryResource]),
        query={"limit": limit},
    )


def verified(body: bytes, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """Return the message if it was signed with the webhook's secret at most five minutes ago (standardwebhooks.com).
    `body` must be the exact bytes received. Raises InvalidRequest otherwise; respond with 400 and ignore the
    message."""
    from standardwebhooks import Webhook, WebhookVerificationError

    try:
        Webhook(secret).verify(body, dict(headers), json_parse=False)
        message = json.loads(body)
    except (WebhookVerificationError, ValueError, IndexError) as error:
        raise InvalidRequest(f"The message was not signed by the service: {error}.") from None
    if not isinstance(message, dict):
        raise InvalidRequest("The message is not a JSON object.")
    return message
