"""Settings of webhooks: how patiently tenants are told, and where. Reading them loads nothing that sends."""

from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from orchestrator.webhooks.settings import DeliverySettings
from workers.fetching.settings import Network, checked_networks, separated

__all__ = ["WebhookSettings"]


class WebhookSettings(DeliverySettings):
    allow: Annotated[tuple[str, ...], BeforeValidator(separated), AfterValidator(checked_networks)] = ()
    """Networks that webhooks may lie in although they are not public, on any port: `10.1.0.0/16`."""
    ports: Annotated[tuple[int, ...], BeforeValidator(separated)] = (443, 8443)
    """Ports of public addresses."""
    plain_http: bool = False
    """Whether messages may go over the wire in the open: for closed networks."""
    user_agent: str = "assayer-webhooks/0.1"

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple(map(ip_network, self.allow))
