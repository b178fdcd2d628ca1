"""What a download of an address from data may reach, take and cost."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from assayer.models import Frozen

__all__ = ["DownloadLimits", "FetchingSettings", "Network", "TransferSettings", "checked_networks", "comma_separated"]

Network = IPv4Network | IPv6Network


def comma_separated(value: object) -> object:
    """Environment variables give lists separated by commas."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def checked_networks(values: tuple[str, ...]) -> tuple[str, ...]:
    """Raises ValueError for what is no network."""
    for value in values:
        ip_network(value)
    return values


class FetchingSettings(Frozen):
    allow: Annotated[tuple[str, ...], BeforeValidator(comma_separated), AfterValidator(checked_networks)] = ()
    """Networks that may be visited although they are not public, on any port: `10.1.0.0/16,::1/128`."""
    ports: Annotated[tuple[int, ...], BeforeValidator(comma_separated)] = (80, 443, 8080, 8443)
    """Ports of public addresses that may be visited."""
    user_agent: str = "assayer/0.1 (evaluates research ideas; reads what is open)"
    connections: int = Field(default=64, ge=1)
    """Downloads in flight at once."""
    connections_per_host: int = Field(default=2, ge=1)
    redirects: int = Field(default=10, ge=0)
    """Followed in one download; each is checked like the first address."""
    robots_hours: float = Field(default=24.0, gt=0)
    """How long a host's robots.txt counts before it is read again."""

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple(ip_network(value) for value in self.allow)


class DownloadLimits(Frozen):
    """What one download may take. Waiting for a turn at a busy host does not count."""

    bytes: int = Field(default=50_000_000, gt=0)
    """Of the body, and again of what it unpacks to."""
    seconds: float = Field(default=120.0, gt=0)
    """From the first connection to the last byte, redirects included."""
    answer_seconds: float = Field(default=30.0, gt=0)
    """Until a server has accepted the connection and sent the headers."""
    slowest: float = Field(default=1_000.0, ge=0)
    """Bytes a second that a body must bring in every `patience`."""
    patience: float = Field(default=15.0, gt=0)
    """Seconds."""


class TransferSettings(Frozen):
    """What may be taken from services that the operator named, whose files have gigabytes."""

    answer_bytes: int = Field(default=64 * 2**20, gt=0)
    """Of a small answer."""
    file_bytes: int = Field(default=64 * 2**30, gt=0)
    answer_seconds: float = Field(default=120.0, gt=0)
    """Until headers have come, and for the whole of a small answer."""
    patience: float = Field(default=60.0, gt=0)
    """Seconds without a byte of a file, after which the connection counts as broken."""
    file_seconds: float = Field(default=6 * 3_600.0, gt=0)
    """For one file, over all its connections."""
    attempts: int = Field(default=8, ge=1)
    """Attempts in a row that bring nothing; one that brings a part of a file restarts the count."""
    backoff_initial: float = Field(default=1.0, ge=0)
    backoff_max: float = Field(default=120.0, ge=0)
    retry_after_max: float = Field(default=900.0, ge=0)
    """How long a service may send us away with one Retry-After."""
    spacing: float = Field(default=0.0, ge=0)
    """Seconds between small requests, as the service asks for."""
