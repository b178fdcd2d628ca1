"""Settings of the client: the address of the service, timeouts and retries."""

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_URL = "http://127.0.0.1:8765"


class Timeouts(BaseModel):
    """Timeouts in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect: float = Field(default=5.0, gt=0)
    answer: float = Field(default=60.0, gt=0)
    """Timeout in seconds if no byte is transferred in either direction."""
    silence: float = Field(default=50.0, gt=0)
    """Timeout in seconds for an event stream that sends nothing; the service sends a keep-alive every 15 seconds."""


class RetryPolicy(BaseModel):
    """Retry policy for requests, and for the reconnections of an event stream."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: int = Field(default=8, ge=1)
    seconds: float = Field(default=180.0, ge=0)
    """Time limit in seconds for retrying: a pause that would exceed it is not started."""
    first_pause: float = Field(default=0.5, ge=0)
    """First pause in seconds, which doubles with every attempt; the actual pause is a random value below that. The
    service's Retry-After takes precedence."""
    longest_pause: float = Field(default=20.0, ge=0)
