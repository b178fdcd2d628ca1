"""Connection to a mail server, opened for the first email and reopened after it breaks."""

import asyncio
import ssl
from email.message import EmailMessage
from types import TracebackType
from typing import Any, Self

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPException,
    SMTPNotSupported,
    SMTPRecipientsRefused,
    SMTPResponseException,
    SMTPSenderRefused,
)

from assayer.errors import MailError, MailPostponed, MailRefused, MailServerUnavailable
from workers.mail.settings import MailServerSettings

_QUIT_SECONDS = 2.0
_MAX_RESPONSE_CHARS = 300
"""Maximum number of characters of a server's response that are kept."""


class SmtpConnection:
    """Connection to a mail server that sends one email at a time. Use it as an async context manager."""

    def __init__(self, settings: MailServerSettings) -> None:
        self._settings = settings
        self._client: SMTP | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        quitting = asyncio.ensure_future(client.quit())
        quitting.add_done_callback(_ignore_outcome)
        try:
            # A separate task, because the library uses `asyncio.wait_for`, which before Python 3.12 loses a
            # cancellation that arrives together with the response.
            await asyncio.wait((quitting,), timeout=_QUIT_SECONDS)
        finally:
            quitting.cancel()
            client.close()

    async def reach(self) -> str:
        """Connect, sign in and return a description of the server. Raises MailServerUnavailable if that fails."""
        client = await self._connect()
        tls = client.get_transport_info("cipher")
        encryption = f"encrypted with {tls[1]}" if tls else "not encrypted"
        account = f", signed in as {self._settings.user}" if self._settings.user else ""
        return f"{self._settings.address} responds, {encryption}{account}."

    async def send(self, message: EmailMessage) -> str:
        """Send the message; return the server's response on acceptance. Raises MailError if it is not accepted."""
        client = await self._connect()
        try:
            async with asyncio.timeout(self._settings.deadline_seconds):
                _, answer = await client.send_message(message)
        except (SMTPException, OSError, ValueError) as error:
            await self._drop_connection()
            raise self._convert_error(error) from None
        except BaseException:
            await self._drop_connection()
            raise
        return f"{self._settings.address} accepted it: {_shorten_response(answer)}"

    async def _connect(self) -> SMTP:
        """Return a connected client, connecting if needed. Raises MailServerUnavailable if that fails."""
        if self._client is not None and self._client.is_connected:
            return self._client
        settings = self._settings
        client = SMTP(
            hostname=settings.host,
            port=settings.effective_port,
            username=settings.user or None,
            password=settings.password.get_secret_value() if settings.password is not None else None,
            local_hostname=settings.sender.rpartition("@")[2],
            timeout=settings.deadline_seconds,
            use_tls=settings.tls == "tls",
            start_tls=settings.tls == "starttls",
            tls_context=self._create_tls_context() if settings.tls != "off" else None,
        )
        try:
            async with asyncio.timeout(settings.deadline_seconds):
                await client.connect()
        except (SMTPException, OSError, ValueError) as error:
            client.close()
            raise MailServerUnavailable(self._explain(error), _choose_hint(error)) from None
        except BaseException:
            client.close()
            raise
        self._client = client
        return client

    def _create_tls_context(self) -> ssl.SSLContext:
        """Return the TLS context. Raises MailServerUnavailable if the CA file cannot be read."""
        context = ssl.create_default_context()
        if self._settings.ca_file is not None:
            try:
                context.load_verify_locations(self._settings.ca_file)
            except OSError as error:  # includes ssl.SSLError
                problem = f"The certificates in {self._settings.ca_file} cannot be read: {error}."
                raise MailServerUnavailable(problem, "Set ASSAYER_MAIL__CA_FILE to a PEM file.") from None
        return context

    async def _drop_connection(self) -> None:
        """Close the connection after a failure, because the SMTP session's state is unknown."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _convert_error(self, error: Exception) -> MailError:
        reason = self._explain(error)
        if isinstance(error, SMTPSenderRefused):
            return MailServerUnavailable(
                reason, "Set ASSAYER_MAIL__SENDER to a sender address that the server accepts."
            )
        if isinstance(error, SMTPNotSupported | ValueError):
            return MailRefused(reason)
        if _get_code(error) >= 500:
            return MailRefused(reason)
        return MailPostponed(reason)

    def _explain(self, error: Exception) -> str:
        address = self._settings.address
        if isinstance(error, SMTPRecipientsRefused):
            (refusal, *_) = error.recipients
            reason = f"{refusal.code} {_shorten_response(refusal.message)}"
            return f"{address} does not accept mail for {refusal.recipient}: {reason}."
        if isinstance(error, SMTPResponseException):
            return f"{address} responded {error.code} {_shorten_response(error.message)}."
        if isinstance(error, TimeoutError):
            return f"{address} did not answer within {self._settings.deadline_seconds:g} s."
        cause = error.__cause__ or error
        return f"{address}: {_shorten_response(str(cause)) or type(cause).__name__}."


def _ignore_outcome(task: asyncio.Task[Any]) -> None:
    """Retrieve the exception of a task whose outcome does not matter, so that it is not logged."""
    if not task.cancelled():
        task.exception()


def _get_code(error: Exception) -> int:
    if isinstance(error, SMTPRecipientsRefused):
        return max(recipient.code for recipient in error.recipients)
    return error.code if isinstance(error, SMTPResponseException) else 0


def _choose_hint(error: Exception) -> str:
    if isinstance(error, SMTPAuthenticationError):
        return "Check ASSAYER_MAIL__USER and ASSAYER_MAIL__PASSWORD."
    if isinstance(error.__cause__ or error, ssl.SSLCertVerificationError):
        return "If the certificate is from your own authority, set ASSAYER_MAIL__CA_FILE."
    return "Check ASSAYER_MAIL__HOST, ASSAYER_MAIL__PORT and ASSAYER_MAIL__TLS."


def _shorten_response(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _MAX_RESPONSE_CHARS else f"{line[: _MAX_RESPONSE_CHARS - 1]}…"
