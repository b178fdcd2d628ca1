"""Email outbox, sender address and deliverer, built from the settings."""

import random
from email.headerregistry import Address

from assayer.errors import ConfigurationError
from assayer.ports import Clock
from cluster.settings import Settings
from orchestrator.execution.mail_delivery import MailDeliverer
from orchestrator.mail.wording import parse_mail_address
from orchestrator.store import Database
from orchestrator.store.mails import PgMails


def build_mail_outbox(settings: Settings, database: Database) -> PgMails:
    return PgMails(database, enabled=settings.mail.host is not None)


def get_mail_sender(settings: Settings) -> Address:
    """Return the configured sender's address. Raises ConfigurationError if it is invalid."""
    try:
        return parse_mail_address(settings.mail.sender_name, settings.mail.sender)
    except ValueError as error:
        message = f"ASSAYER_MAIL__SENDER is not a valid email address: {settings.mail.sender!r} ({error})."
        raise ConfigurationError(message, "Set it to an address such as assayer@example.org.") from None


def build_mail_deliverer(settings: Settings, outbox: PgMails, clock: Clock) -> MailDeliverer | None:
    """Return the email deliverer, or None unless both a mail server and the service's URL are configured. Raises
    ConfigurationError if the sender's address is invalid."""
    if settings.mail.host is None or settings.access.url is None:
        return None
    from workers.mail.smtp import SmtpConnection

    return MailDeliverer(
        outbox,
        lambda: SmtpConnection(settings.mail),
        get_mail_sender(settings),
        settings.access.url,
        2 * settings.mail.deadline_seconds,
        clock,
        random.SystemRandom().random,
        settings.mail,
    )
