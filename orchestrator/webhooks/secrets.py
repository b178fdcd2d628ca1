"""Secrets of webhooks: generated, encrypted at rest, and used to sign messages (Standard Webhooks 1.0).

Signing takes the plain secret, so it cannot be hashed: it is kept encrypted, under a key that is not in the database.
"""

import datetime as dt
import secrets
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from standardwebhooks import Webhook

from assayer.errors import ConfigurationError

__all__ = ["SecretCipher", "generate_secret", "signed_headers"]

_SECRET_BYTES = 32
_SETTING = "ASSAYER_WEBHOOKS__KEYS"
_PLAIN_PREFIX = "whsec_"
"""Begins a secret that is not encrypted, as earlier versions stored them."""


class SecretCipher:
    """Encrypts with the first key and decrypts with any of them, so that keys can be replaced one by one."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Fernet keys: 32 bytes in URL-safe base64. Without any, nothing can be encrypted."""
        self._keys = [Fernet(key) for key in keys]

    def encrypt(self, secret: str) -> str:
        """Raises ConfigurationError where there is no key."""
        if not self._keys:
            raise ConfigurationError(
                "The service has no key to encrypt a webhook's secret with.",
                f"The operator of the service has to set {_SETTING}.",
            )
        return self._keys[0].encrypt(secret.encode()).decode()

    def decrypt(self, encrypted: str) -> str:
        """Raises ConfigurationError for what none of the keys decrypts."""
        if encrypted.startswith(_PLAIN_PREFIX):
            return encrypted
        if self._keys:
            with suppress(InvalidToken):
                return MultiFernet(self._keys).decrypt(encrypted).decode()
        raise ConfigurationError(
            "The secret that signs the messages was encrypted with a key that the service does not have.",
            f"Add that key to {_SETTING}, after the others; or have the tenant create the webhook again.",
        )

    def re_encrypted(self, encrypted: str) -> str | None:
        """The same secret under the first key; None where that is its key already. Raises ConfigurationError."""
        secret = self.decrypt(encrypted)
        return None if self._is_under_first_key(encrypted) else self.encrypt(secret)

    def _is_under_first_key(self, encrypted: str) -> bool:
        try:
            return bool(self._keys[:1] and self._keys[0].decrypt(encrypted))
        except InvalidToken:
            return False


def signed_headers(secret: str, delivery: UUID, at: dt.datetime, body: str) -> dict[str, str]:
    """`webhook-id` stays the same when a message is sent again: a receiver acts once on each."""
    name = f"msg_{delivery.hex}"
    return {
        "Content-Type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(name, at, body),
    }


def generate_secret(random: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """As Standard Webhooks writes it."""
    return f"whsec_{b64encode(random(_SECRET_BYTES)).decode()}"
