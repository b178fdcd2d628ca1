"""Binds the deliveries of the service to a sender that tenants cannot aim at the operator's own network."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from assayer.errors import AddressRefused
from assayer.ports import Clock
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.deliverer import Deliverer
from orchestrator.webhooks.ports import Wake
from orchestrator.webhooks.settings import DeliverySettings
from workers.fetching import Policy, Poster
from workers.fetching.settings import checked_networks, separated

__all__ = ["WebhookSettings", "check_address", "open_deliverer"]


class WebhookSettings(DeliverySettings):
    allow: Annotated[tuple[str, ...], BeforeValidator(separated), AfterValidator(checked_networks)] = ()
    """Networks that webhooks may lie in although they are not public, on any port: `10.1.0.0/16`."""
    ports: Annotated[tuple[int, ...], BeforeValidator(separated)] = (443, 8443)
    """Ports of public addresses."""
    plain_http: bool = False
    """Whether messages may go over the wire in the open: for closed networks."""
    user_agent: str = "assayer-webhooks/0.1"

    @property
    def policy(self) -> Policy:
        return Policy(map(ip_network, self.allow), self.ports)


def check_address(settings: WebhookSettings, url: str) -> None:
    """Raises AddressRefused for what no webhook may be. Where its name leads is checked whenever something is sent."""
    if settings.policy.url(url).scheme != "https" and not settings.plain_http:
        raise AddressRefused("The address is not https.", "Messages name your work: they are sent encrypted.")


@asynccontextmanager
async def open_deliverer(
    settings: WebhookSettings, outbox: PgWebhooks, wake: Wake, clock: Clock
) -> AsyncIterator[Deliverer]:
    """Its `run` is for the caller's task group."""
    async with Poster(settings.policy, settings.user_agent) as poster:
        yield Deliverer(outbox, poster.post, wake, clock, random.SystemRandom().random, settings)
