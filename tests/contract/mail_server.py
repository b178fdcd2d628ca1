"""A mail server on this machine, spoken to over SMTP: it takes mails, or does what the test wants of it."""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Letter(NamedTuple):
    sender: str
    recipients: tuple[str, ...]
    message: EmailMessage
    encrypted: bool
    signed_in: bool

    @property
    def text(self) -> str:
        return str(self.message.get_content()).replace("\r\n", "\n")


class MailServer:
    """Hooks of the server, and what it took."""

    def __init__(self) -> None:
        self.port = 0
        self.letters: list[Letter] = []
        self.recipient_answer: str | None = None
        self.sender_answer: str | None = None
        self.data_answer: str | None = None
        """Set: it refuses so, at that point."""
        self.hang_at: str = ""
        self.die_at: str = ""
        """Command at which the server dies: `MAIL` or `DATA`. Dying after DATA means that it has accepted the
        mail without confirming it."""
        self.dying = 1_000
        """Number of times it dies before it behaves."""
        self.users = {"assayer": "secret"}
        self.connections = 0
        self.gate = asyncio.Event()
        """Event that releases hanging requests when set."""
        self._came = asyncio.Condition()

    async def receive(self, count: int) -> list[Letter]:
        async with asyncio.timeout(60), self._came:
            await self._came.wait_for(lambda: len(self.letters) >= count)
        return self.letters

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        self.connections += 1
        session.host_name = hostname
        return responses

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        await self._fail_at(server, "MAIL")
        if self.sender_answer is not None:
            return self.sender_answer
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.recipient_answer is not None:
            return self.recipient_answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.data_answer is not None:
            return self.data_answer
        assert isinstance(envelope.content, bytes)
        message = message_from_bytes(envelope.content, policy=default)
        assert isinstance(message, EmailMessage)
        letter = Letter(
            str(envelope.mail_from),
            tuple(envelope.rcpt_tos),
            message,
            session.ssl is not None,
            bool(session.authenticated),
        )
        async with self._came:
            self.letters.append(letter)
            self._came.notify_all()
        await self._fail_at(server, "DATA")
        return "250 queued as 7"

    def authenticate(self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        is_known = isinstance(data, LoginPassword) and self.users.get(data.login.decode()) == data.password.decode()
        return AuthResult(success=is_known, handled=False)

    async def _fail_at(self, server: SMTP, stage: str) -> None:
        if self.hang_at == stage:
            await self.gate.wait()
        if self.die_at == stage and self.dying > 0:
            self.dying -= 1
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()


@asynccontextmanager
async def run_mail_server(
    *, tls: ssl.SSLContext | None = None, tls_at_once: bool = False, sign_in: bool = False
) -> AsyncIterator[MailServer]:
    """Run a mail server; with `tls` it offers STARTTLS, or speaks TLS from the first byte with `tls_at_once`."""
    post = MailServer()
    loop = asyncio.get_running_loop()
    make_server: Callable[[], SMTP] = lambda: SMTP(  # noqa: E731 - one per connection
        post,
        hostname="mail.test",
        tls_context=None if tls_at_once else tls,
        require_starttls=tls is not None and not tls_at_once,
        authenticator=post.authenticate,
        auth_required=sign_in and not tls_at_once,
        auth_require_tls=tls is not None and not tls_at_once,
        loop=loop,
    )
    server = await loop.create_server(make_server, "127.0.0.1", 0, ssl=tls if tls_at_once else None)
    post.port = server.sockets[0].getsockname()[1]
    try:
        yield post
    finally:
        post.gate.set()
        server.close()
        await server.wait_closed()


def create_certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Create a certificate for 127.0.0.1, signed by its own authority.

    Returns a server's context, and the file that clients need to trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    signed_certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=True,
                crl_sign=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
        .sign(key, hashes.SHA256())
    )
    chain, private = folder / "mail.pem", folder / "mail.key"
    chain.write_bytes(signed_certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, private)
    return context, chain
