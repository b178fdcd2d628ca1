"""Binds the deliveries of the service to a sender that tenants cannot aim at the operator's own network."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assayer.errors import AddressRefused
from assayer.ports import Clock
from cluster.webhook_settings import WebhookSettings
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.deliverer import Deliverer
from orchestrator.webhooks.ports import Wake
from workers.fetching.addresses import Policy
from workers.fetching.posting import Poster

__all__ = ["check_address", "open_deliverer", "policy"]


def policy(settings: WebhookSettings) -> Policy:
    return Policy(settings.networks, settings.ports)


def check_address(settings: WebhookSettings, url: str) -> None:
    """Raises AddressRefused for what no webhook may be. Where its name leads is checked whenever something is sent."""
    if policy(settings).url(url).scheme != "https" and not settings.plain_http:
        raise AddressRefused("The address is not https.", "Messages name your work: they are sent encrypted.")


@asynccontextmanager
async def open_deliverer(
    settings: WebhookSettings, outbox: PgWebhooks, wake: Wake, clock: Clock
) -> AsyncIterator[Deliverer]:
    """Its `run` is for the caller's task group."""
    async with Poster(policy(settings), settings.user_agent) as poster:
        yield Deliverer(outbox, poster.post, wake, clock, random.SystemRandom().random, settings)
