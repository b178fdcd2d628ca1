"""Settings of the store, apart from it: reading them loads no database driver."""

from pydantic import Field, SecretStr

from assayer.models import Frozen

__all__ = ["DatabaseSettings", "KeySettings"]


class DatabaseSettings(Frozen):
    url: SecretStr | None = None
    """`postgresql://user:password@host:5432/name`; without it the embedded server is used."""
    max_connections: int = Field(default=8, ge=1, le=500)
    """Of this process."""
    connect_seconds: float = Field(default=5.0, gt=0)
    """For one connection, and for a configured server to answer at the start."""
    command_seconds: float = Field(default=30.0, gt=0)
    """For one statement."""
    patience_seconds: float = Field(default=60.0, gt=0)
    """How long work waits for a lost server, or for a free connection, before it fails."""


class KeySettings(Frozen):
    requests_per_minute: int = Field(default=600, ge=1)
    """Of a key that has no limit of its own."""
    burst_seconds: float = Field(default=10.0, ge=0)
    """A key may ask at once as often as it otherwise would in so long."""
