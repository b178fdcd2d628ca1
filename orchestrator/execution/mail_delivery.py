"""Delivery of emails to the mail server. Any number of processes deliver concurrently; each email is claimed by one.

Emails are claimed rather than sent in a chore, because a chore's lock occupies a database connection during the work,
and a mail server may not respond for a long time.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from typing import Protocol

from prometheus_client import Counter as Metric

from assayer.errors import MailError, MailRefused, MailServerUnavailable, StorageError
from assayer.ports import Clock
from orchestrator.mail.models import ClaimedMail
from orchestrator.mail.wording import compose_mail, is_for_reviewer
from orchestrator.outbox import Abandoned, Delivered, DeliveryOutcome, RetryLater, decide_after_failure
from orchestrator.settings import MailDeliverySettings
from orchestrator.store.mails import PgMails

_LOG = logging.getLogger(__name__)
MAIL_ATTEMPTS = Metric(
    "assayer_email_attempts_total", "Attempts to send emails to the mail server, by outcome.", ["step"]
)

_OUTCOME_LABELS = {Delivered: "sent", RetryLater: "later", Abandoned: "failed"}
_MAX_EMAILS_PER_CONNECTION = 10
"""Maximum number of emails that a process sends over one connection."""
_STOP_TIMEOUT_SECONDS = 5.0
"""Maximum seconds to wait for the email in progress when the process is stopped. An interrupted email may be sent
twice."""


class MailServer(Protocol):
    """Connection to a mail server, over which emails are sent one after another."""

    async def send(self, message: EmailMessage) -> str:
        """Send an email, and return the response with which the server accepted it. Raises MailError."""
        ...


@dataclass(frozen=True)
class MailDeliverer:
    outbox: PgMails
    connect: Callable[[], AbstractAsyncContextManager[MailServer]]
    sender: Address
    url: str
    """Public URL of the service."""
    deadline_seconds: float
    """Maximum duration of sending an email, in seconds."""
    clock: Clock
    draw_fraction: Callable[[], float]
    """Function that returns uniform numbers in [0, 1)."""
    settings: MailDeliverySettings

    async def run(self) -> None:
        """Deliver emails until cancelled. When cancelled, wait a short time for the email in progress."""
        while True:
            try:
                claim_seconds = 2 * (_MAX_EMAILS_PER_CONNECTION + 1) * self.deadline_seconds
                mails = await self.outbox.claim(_MAX_EMAILS_PER_CONNECTION, claim_seconds)
                if mails:
                    await self._send_mails(mails)
            except StorageError as error:
                _LOG.warning("emails cannot currently be sent: %s", error)
                mails = []
            if len(mails) < _MAX_EMAILS_PER_CONNECTION:
                await asyncio.sleep(self.settings.poll_seconds)

    async def _send_mails(self, mails: list[ClaimedMail]) -> None:
        """Send the claimed emails over one connection. If the server is unreachable, do not contact it again for the
        remaining emails."""
        server_error: MailServerUnavailable | None = None
        async with self.connect() as server:
            for mail in mails:
                delivery = asyncio.ensure_future(self._deliver(mail, server, server_error))
                try:
                    server_error = await asyncio.shield(delivery)
                except asyncio.CancelledError:
                    await asyncio.wait((delivery,), timeout=_STOP_TIMEOUT_SECONDS)
                    delivery.cancel()
                    await asyncio.gather(delivery, return_exceptions=True)
                    raise

    async def _deliver(
        self, mail: ClaimedMail, server: MailServer, server_error: MailServerUnavailable | None
    ) -> MailServerUnavailable | None:
        outcome: DeliveryOutcome
        try:
            if server_error is not None:
                raise server_error
            outcome = Delivered(await server.send(await self._compose(mail)))
        except MailRefused as error:
            outcome = Abandoned(str(error))
        except MailError as error:
            outcome = decide_after_failure(str(error), mail.attempt, self.draw_fraction(), self.settings)
            server_error = error if isinstance(error, MailServerUnavailable) else None
        MAIL_ATTEMPTS.labels(_OUTCOME_LABELS[type(outcome)]).inc()
        if not isinstance(outcome, Delivered):
            _LOG.warning("Email %s was not sent: %s", mail.id, outcome.detail)
        await self.outbox.settle(mail, outcome)
        return server_error

    async def _compose(self, mail: ClaimedMail) -> EmailMessage:
        """Compose an email. If it asks a reviewer to sign in, each attempt contains a new link, because tokens of links
        are not stored. Raises MailRefused if the member's address is invalid."""
        now, link = self.clock.now(), ""
        if is_for_reviewer(mail):
            link = f"{self.url}/console/sign-in/link/{await self.outbox.links.create(mail.member, now)}"
        try:
            return compose_mail(mail, self.sender, self.url, now, link)
        except ValueError as error:
            raise MailRefused(f"The member's address is invalid: {error}.") from None
