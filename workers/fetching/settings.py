"""Settings for downloads: which addresses they may reach, and limits on their size and time."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from assayer.models import Frozen

Network = IPv4Network | IPv6Network


def split_commas(value: object) -> object:
    """Split a comma-separated string, as environment variables provide, into a list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def check_networks(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values unchanged. Raises ValueError if a value is not an IP network."""
    for value in values:
        ip_network(value)
    return values


class FetchingSettings(Frozen):
    allow: Annotated[tuple[str, ...], BeforeValidator(split_commas), AfterValidator(check_networks)] = ()
    """Non-public networks to which connections are allowed, on any port, such as `10.1.0.0/16,::1/128`."""
    ports: Annotated[tuple[int, ...], BeforeValidator(split_commas)] = (80, 443, 8080, 8443)
    """Ports allowed on public addresses."""
    user_agent: str = "assayer/0.1 (evaluates research ideas; reads what is open)"
    connections: int = Field(default=64, ge=1)
    """Maximum number of concurrent downloads."""
    connections_per_host: int = Field(default=2, ge=1)
    redirects: int = Field(default=10, ge=0)
    """Maximum number of redirects followed in one download. Each is checked like the first URL."""
    robots_hours: float = Field(default=24.0, gt=0)
    """Hours for which a host's robots.txt is cached."""

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple(ip_network(value) for value in self.allow)


class DownloadLimits(Frozen):
    """Limits for one download. Time spent waiting for a connection slot does not count."""

    bytes: int = Field(default=50_000_000, gt=0)
    """Maximum size of the body in bytes, before and after decompression."""
    seconds: float = Field(default=120.0, gt=0)
    """Maximum seconds from the first connection to the last byte, including redirects."""
    answer_seconds: float = Field(default=30.0, gt=0)
    """Maximum seconds until a server has accepted the connection and sent the headers."""
    slowest: float = Field(default=1_000.0, ge=0)
    """Minimum average transfer rate, in bytes per second, in each window of `patience` seconds."""
    patience: float = Field(default=15.0, gt=0)
    """Length of a window in seconds."""


class TransferSettings(Frozen):
    """Limits for downloads from services named by the operator, whose files can be gigabytes in size."""

    answer_bytes: int = Field(default=64 * 2**20, gt=0)
    """Maximum size of a small response, in bytes."""
    file_bytes: int = Field(default=64 * 2**30, gt=0)
    answer_seconds: float = Field(default=120.0, gt=0)
    """Maximum seconds until the headers arrive and, for a small response, until it is complete."""
    patience: float = Field(default=60.0, gt=0)
    """Seconds without any byte received after which the connection counts as broken."""
    file_seconds: float = Field(default=6 * 3_600.0, gt=0)
    """Maximum seconds for one file, over all its connections."""
    attempts: int = Field(default=8, ge=1)
    """Maximum number of consecutive attempts without progress. An attempt that receives part of a file resets the
    count."""
    backoff_initial: float = Field(default=1.0, ge=0)
    backoff_max: float = Field(default=120.0, ge=0)
    retry_after_max: float = Field(default=900.0, ge=0)
    """Longest wait, in seconds, accepted from one Retry-After header."""
    spacing: float = Field(default=0.0, ge=0)
    """Seconds between small requests, as required by the service."""
