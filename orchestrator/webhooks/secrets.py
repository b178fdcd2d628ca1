"""Secrets of webhooks: generation, encryption for storage, and signing of messages (Standard Webhooks 1.0).

Signing requires the secret itself. The secret is therefore not hashed, but encrypted with a key that is kept outside
the database."""

import datetime as dt
import secrets
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from standardwebhooks import Webhook

from assayer.errors import ConfigurationError

_SECRET_BYTES = 32
_KEYS_SETTING = "ASSAYER_WEBHOOKS__KEYS"


class SecretCipher:
    """Cipher for webhook secrets. It encrypts with the first key and decrypts with any key, so that a key can be
    replaced while secrets are still encrypted with it."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Create a cipher from Fernet keys, each 32 bytes in URL-safe base64. A cipher without keys cannot encrypt."""
        self._keys = [Fernet(key) for key in keys]

    def encrypt(self, secret: str) -> str:
        """Encrypt a secret. Raises ConfigurationError if there is no key."""
        if not self._keys:
            raise ConfigurationError(
                "The service has no key for encrypting the webhook's secret.",
                f"The operator of the service must set {_KEYS_SETTING}.",
            )
        return self._keys[0].encrypt(secret.encode()).decode()

    def decrypt(self, encrypted: str) -> str:
        """Decrypt a secret. Raises ConfigurationError if none of the keys decrypts it."""
        if self._keys:
            with suppress(InvalidToken):
                return MultiFernet(self._keys).decrypt(encrypted).decode()
        raise ConfigurationError(
            "The webhook's signing secret was encrypted with a key that the service does not have.",
            f"Add that key to {_KEYS_SETTING} after the others, or ask the tenant to create the webhook again.",
        )

    def re_encrypt(self, encrypted: str) -> str | None:
        """Return the secret encrypted with the first key; None if it is already encrypted with that key. Raises
        ConfigurationError if none of the keys decrypts it."""
        secret = self.decrypt(encrypted)
        return None if self._is_under_first_key(encrypted) else self.encrypt(secret)

    def _is_under_first_key(self, encrypted: str) -> bool:
        try:
            return bool(self._keys[:1] and self._keys[0].decrypt(encrypted))
        except InvalidToken:
            return False


def build_signed_headers(secret: str, delivery: UUID, sent_at: dt.datetime, body: str) -> dict[str, str]:
    """Return the headers of a message, including its signature. `webhook-id` stays the same if the message is sent
    again, so that receivers can recognise the duplicate."""
    message_id = f"msg_{delivery.hex}"
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(sent_at.timestamp())),
        "webhook-signature": Webhook(secret).sign(message_id, sent_at, body),
    }


def generate_secret() -> str:
    """Return a new secret in the format of Standard Webhooks."""
    return f"whsec_{b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()}"
