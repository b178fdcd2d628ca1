"""Delivery of mails to the mail server, by any number of concurrent processes: each mail is claimed by one of them.

Claims are used instead of a chore's lock because that lock holds a database connection during the work, and a mail
server may hang.
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
from orchestrator.mail.wording import compose_mail
from orchestrator.outbox import Delivered, DeliveryOutcome, GivenUp, RetryLater, outcome_of_failure
from orchestrator.settings import MailDeliverySettings
from orchestrator.store.mails import PgMails

_LOG = logging.getLogger(__name__)
MAIL_TRIES = Metric("assayer_mail_tries_total", "Tries to hand mails to the mail server, by what followed.", ["step"])

_STEP_LABELS = {Delivered: "sent", RetryLater: "later", GivenUp: "failed"}
_IN_A_ROW = 10
"""Maximum number of mails that a process sends in sequence over one connection."""
_STOPPING_SECONDS = 5.0
"""Maximum seconds for the mail in progress when the process is asked to stop: if it were cut off, it might be sent
twice."""


class MailServer(Protocol):
    """A connection to a mail server, which sends mails in sequence."""

    async def send(self, message: EmailMessage) -> str:
        """Send a mail and return the server's response on acceptance. Raises MailError."""
        ...


@dataclass(frozen=True)
class MailDeliverer:
    outbox: PgMails
    connect: Callable[[], AbstractAsyncContextManager[MailServer]]
    sender: Address
    url: str
    """Public URL of the service."""
    deadline_seconds: float
    """The server's maximum time for one mail."""
    clock: Clock
    draw: Callable[[], float]
    """Function that returns uniform numbers in [0, 1)."""
    settings: MailDeliverySettings

    async def run(self) -> None:
        """Deliver mails until cancelled; the mail in progress then gets a short time to finish."""
        while True:
            try:
                claim_seconds = 2 * (_IN_A_ROW + 1) * self.deadline_seconds
                claimed = await self.outbox.claim(_IN_A_ROW, claim_seconds)
                if claimed:
                    await self._hand_over(claimed)
            except StorageError as error:
                _LOG.warning("Mails wait: %s", error)
                claimed = []
            if len(claimed) < _IN_A_ROW:
                await asyncio.sleep(self.settings.poll_seconds)

    async def _hand_over(self, claimed: list[ClaimedMail]) -> None:
        """Send the claimed mails over one connection; if the server is unreachable, it is tried only once for all of
        them."""
        unreachable: MailServerUnavailable | None = None
        async with self.connect() as server:
            for mail in claimed:
                sending = asyncio.ensure_future(self._deliver(mail, server, unreachable))
                try:
                    unreachable = await asyncio.shield(sending)
                except asyncio.CancelledError:
                    await asyncio.wait((sending,), timeout=_STOPPING_SECONDS)
                    sending.cancel()
                    await asyncio.gather(sending, return_exceptions=True)
                    raise

    async def _deliver(
        self, mail: ClaimedMail, server: MailServer, unreachable: MailServerUnavailable | None
    ) -> MailServerUnavailable | None:
        outcome: DeliveryOutcome
        try:
            if unreachable is not None:
                raise unreachable
            outcome = Delivered(await server.send(self._composed(mail)))
        except MailRefused as error:
            outcome = GivenUp(str(error))
        except MailError as error:
            outcome = outcome_of_failure(str(error), mail.attempt, self.draw(), self.settings)
            unreachable = error if isinstance(error, MailServerUnavailable) else None
        MAIL_TRIES.labels(_STEP_LABELS[type(outcome)]).inc()
        if not isinstance(outcome, Delivered):
            _LOG.warning("Mail %s was not sent: %s", mail.id, outcome.detail)
        await self.outbox.settle(mail, outcome)
        return unreachable

    def _composed(self, mail: ClaimedMail) -> EmailMessage:
        """Compose a mail. Raises MailRefused."""
        try:
            return compose_mail(mail, self.sender, self.url, self.clock.now())
        except ValueError as error:
            raise MailRefused(f"The member's address cannot be written to: {error}.") from None
