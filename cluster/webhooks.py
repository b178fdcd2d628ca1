"""Binds the deliveries of the service to a sender that tenants cannot aim at the operator's own network."""

import logging
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assayer.errors import AddressRefused, ConfigurationError
from assayer.ports import Clock
from cluster.key_file import kept_key
from cluster.settings import Settings
from cluster.webhook_settings import WebhookSettings
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.deliverer import Deliverer
from orchestrator.webhooks.ports import Wake
from orchestrator.webhooks.sealing import Seal
from workers.fetching.addresses import Policy
from workers.fetching.posting import Poster

__all__ = ["check_address", "open_deliverer", "policy", "renew_seals", "seal_of"]

_LOG = logging.getLogger(__name__)
_KEY_FILE = "webhooks.key"


def policy(settings: WebhookSettings) -> Policy:
    return Policy(settings.networks, settings.ports)


def check_address(settings: WebhookSettings, url: str) -> None:
    """Raises AddressRefused for what no webhook may be. Where its name leads is checked whenever something is sent."""
    if policy(settings).url(url).scheme != "https" and not settings.plain_http:
        raise AddressRefused("The address is not https.", "Messages name your work: they are sent encrypted.")


def seal_of(settings: Settings) -> Seal:
    """Of the keys that are set, else of the embedded database's own, which is made when it is first asked for. Raises
    ConfigurationError."""
    from cryptography.fernet import Fernet

    keys = [key.get_secret_value() for key in settings.webhooks.keys]
    if keys or settings.database.url is not None:
        return Seal(keys)
    path = settings.home / _KEY_FILE
    try:
        return Seal([kept_key(path, Fernet.generate_key())])
    except ValueError:
        raise ConfigurationError(
            f"{path} holds no key.", "Restore it from a backup. Without it webhooks have to be made anew: delete it."
        ) from None


async def renew_seals(outbox: PgWebhooks, seal: Seal) -> None:
    """Brings every secret under the first key: those that an earlier version left plain, and those of older keys. What
    cannot be is said in the log. Raises StorageError."""
    for webhook, sealed in await outbox.sealed():
        try:
            renewed = seal.renewed(sealed)
        except ConfigurationError as error:
            _LOG.warning("the secret of webhook %s cannot be sealed: %s", webhook, error)
            continue
        if renewed is not None and await outbox.reseal(webhook, sealed, renewed):
            _LOG.info("the secret of webhook %s is sealed under the present key", webhook)


@asynccontextmanager
async def open_deliverer(
    settings: WebhookSettings, outbox: PgWebhooks, seal: Seal, wake: Wake, clock: Clock
) -> AsyncIterator[Deliverer]:
    """Its `run` is for the caller's task group."""
    async with Poster(policy(settings), settings.user_agent) as poster:
        yield Deliverer(outbox, seal, poster.post, wake, clock, random.SystemRandom().random, settings)
