"""Settings for the mail server."""

from ipaddress import ip_address
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from assayer.models import Frozen

_DEFAULT_PORTS = {"starttls": 587, "tls": 465, "off": 25}


class MailServerSettings(Frozen):
    host: str | None = Field(default=None, pattern=r"^[A-Za-z0-9.:-]{1,253}$")
    """Host of the SMTP server; None disables email."""
    port: int | None = Field(default=None, ge=1, le=65_535)
    """Port of the SMTP server. None: 587 with `starttls`, 465 with `tls`, 25 with `off`."""
    tls: Literal["starttls", "tls", "off"] = "starttls"
    """Encryption. `starttls`: nothing is sent before the connection is encrypted; `tls`: encrypted from the first byte;
    `off`: unencrypted, for a server on this machine or in a closed network."""
    ca_file: Path | None = None
    """CA certificates for verifying the server, in addition to this machine's."""
    user: str = Field(default="", max_length=500)
    """User name at the mail server; empty for a server without sign-in."""
    password: SecretStr | None = None
    """The user's password."""
    sender: str = Field(default="", max_length=254)
    """Sender address for emails, such as `assayer@example.org`."""
    sender_name: str = Field(default="assayer", max_length=100)
    deadline_seconds: float = Field(default=30.0, gt=0)
    """Maximum seconds for connecting and signing in, and then for each email."""

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        if self.host is None:
            return self
        if not self.sender:
            raise ValueError("email needs a sender: set ASSAYER_MAIL__SENDER to an address such as assayer@example.org")
        if bool(self.user) != (self.password is not None):
            raise ValueError("the mail server's user and password must be set together: set both, or neither")
        if self.user and self.tls == "off" and not is_this_machine(self.host):
            raise ValueError("the password would be sent unencrypted: set ASSAYER_MAIL__TLS to starttls or tls")
        return self

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port or _DEFAULT_PORTS[self.tls]}"

    @property
    def effective_port(self) -> int:
        return self.port or _DEFAULT_PORTS[self.tls]


def is_this_machine(host: str) -> bool:
    """Return whether a host name or address is a loopback one."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
