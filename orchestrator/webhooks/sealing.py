"""Secrets of webhooks at rest. Signing takes the plain secret, so it cannot be hashed: it is kept sealed, under a key
that does not lie in the database."""

from collections.abc import Sequence
from contextlib import suppress

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from assayer.errors import ConfigurationError

__all__ = ["Seal"]

_SETTING = "ASSAYER_WEBHOOKS__KEYS"
_PLAIN = "whsec_"
"""Begins a secret that is not sealed, as earlier versions kept them."""


class Seal:
    """Closes with the first key and opens with any of them, so that keys can be replaced one after the other."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Keys of Fernet: 32 bytes in URL-safe base64. None: nothing can be sealed."""
        self._keys = [Fernet(key) for key in keys]

    def close(self, secret: str) -> str:
        """Raises ConfigurationError where there is no key."""
        if not self._keys:
            raise ConfigurationError(
                "There is no key here under which a webhook's secret could be kept.",
                f"The operator of the service has to set {_SETTING}.",
            )
        return self._keys[0].encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        """Raises ConfigurationError for what none of the keys has sealed."""
        if sealed.startswith(_PLAIN):
            return sealed
        if self._keys:
            with suppress(InvalidToken):
                return MultiFernet(self._keys).decrypt(sealed).decode()
        raise ConfigurationError(
            "The secret with which messages are signed was sealed under a key that the service does not have.",
            f"Put that key into {_SETTING}, after the others; or let the tenant make the webhook anew.",
        )

    def renewed(self, sealed: str) -> str | None:
        """The same secret under the first key; None where it is already. Raises ConfigurationError."""
        secret = self.open(sealed)
        return None if self._is_under_the_first(sealed) else self.close(secret)

    def _is_under_the_first(self, sealed: str) -> bool:
        try:
            return bool(self._keys[:1] and self._keys[0].decrypt(sealed))
        except InvalidToken:
            return False
