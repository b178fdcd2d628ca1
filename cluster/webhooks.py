"""Webhook components built from the settings: address checks, encryption of secrets, and the deliverer."""

import logging
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid4

from assayer.errors import AddressRefused, ConfigurationError
from assayer.ports import Clock
from cluster.settings import Settings, WebhookSettings
from orchestrator.execution.webhook_delivery import DeliverySignal, WebhookDeliverer
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.secrets import SecretCipher
from workers.fetching.guarded_post import GuardedPoster
from workers.fetching.ssrf_guard import AddressPolicy


def load_or_create_key(path: Path, new: bytes) -> str:
    """Return the key in the file. If there is no file, create it with the key `new`, readable only by its owner. If
    several processes do this at once, all of them return the same key. Raises ConfigurationError if the file cannot be
    read or written."""
    try:
        if not path.exists():
            _create_atomically(path, new)
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"The key in {path} cannot be read or written: {error}.",
            "Make the user who runs assayer the owner of the file.",
        ) from None


def _create_atomically(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


_LOG = logging.getLogger(__name__)
_KEY_FILE = "webhooks.key"


def create_address_policy(settings: WebhookSettings) -> AddressPolicy:
    return AddressPolicy(settings.networks, settings.ports)


def check_webhook_address(settings: WebhookSettings, url: str) -> None:
    """Raise AddressRefused if webhooks must not use a URL. The IP address is checked later, at each delivery."""
    if create_address_policy(settings).check_url(url).scheme != "https" and not settings.plain_http:
        raise AddressRefused(
            "The URL must use https.",
            "Webhook messages contain titles of your work, so they must be encrypted. In a closed network or on one "
            "machine, the operator can set ASSAYER_WEBHOOKS__PLAIN_HTTP=true.",
        )


def load_secret_cipher(settings: Settings) -> SecretCipher:
    """Return a cipher with the configured keys. Without configured keys, it uses the key in the data directory, which
    is created on first use or, with an external database, no key. Raises ConfigurationError if that key is invalid."""
    from cryptography.fernet import Fernet

    keys = [key.get_secret_value() for key in settings.webhooks.keys]
    if keys or settings.database.url is not None:
        return SecretCipher(keys)
    path = settings.home / _KEY_FILE
    try:
        return SecretCipher([load_or_create_key(path, Fernet.generate_key())])
    except ValueError:
        raise ConfigurationError(
            f"{path} does not contain a valid key.",
            "Restore the file from a backup. If there is none, delete it and create all webhooks again.",
        ) from None


async def reencrypt_secrets(outbox: PgWebhooks, cipher: SecretCipher) -> None:
    """Re-encrypt secrets that are encrypted with an older key, using the first key. Secrets that cannot be decrypted
    are logged and skipped. Raises StorageError."""
    for webhook, sealed in await outbox.list_encrypted_secrets():
        try:
            renewed = cipher.re_encrypt(sealed)
        except ConfigurationError as error:
            _LOG.warning("the secret of webhook %s cannot be re-encrypted: %s", webhook, error)
            continue
        if renewed is not None and await outbox.replace_secret(webhook, sealed, renewed):
            _LOG.info("the secret of webhook %s is encrypted with the current key", webhook)


@asynccontextmanager
async def open_deliverer(
    settings: WebhookSettings, outbox: PgWebhooks, cipher: SecretCipher, wake: DeliverySignal, clock: Clock
) -> AsyncIterator[WebhookDeliverer]:
    """Open the webhook deliverer. The caller runs its `run` method in a task group."""
    async with GuardedPoster(create_address_policy(settings), settings.user_agent) as poster:
        yield WebhookDeliverer(outbox, cipher, poster.post, wake, clock, random.SystemRandom().random, settings)
