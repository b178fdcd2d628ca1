"""Settings of webhooks: how patiently tenants are told, and where. Reading them loads nothing that sends."""

import binascii
from base64 import urlsafe_b64decode
from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, SecretStr

from orchestrator.webhooks.settings import DeliverySettings
from workers.fetching.settings import Network, checked_networks, separated

__all__ = ["WebhookSettings"]


_KEY_BYTES = 32


def _fernet_keys(keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    """Raises ValueError for what is none, without repeating it."""
    for number, key in enumerate(keys, 1):
        try:
            known = len(urlsafe_b64decode(key.get_secret_value().encode())) == _KEY_BYTES
        except (binascii.Error, UnicodeEncodeError):
            known = False
        if not known:
            raise ValueError(f"key number {number} is not {_KEY_BYTES} bytes in URL-safe base64")
    return keys


class WebhookSettings(DeliverySettings):
    keys: Annotated[tuple[SecretStr, ...], BeforeValidator(separated), AfterValidator(_fernet_keys)] = ()
    """Under which secrets are kept: new ones under the first, while all of them open. The embedded database has a key
    of its own in the data directory; with another database there are no webhooks without one."""
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
