"""The client's settings: timeouts and retries."""

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_URL = "http://127.0.0.1:8765"


class Timeouts(BaseModel):
    """Timeouts in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect: float = Field(default=5.0, gt=0)
    answer: float = Field(default=60.0, gt=0)
    """Seconds without any transfer after which a connection times out."""
    silence: float = Field(default=50.0, gt=0)
    """Seconds without data after which an event stream times out. The service sends a keep-alive every 15 seconds."""


class RetryPolicy(BaseModel):
    """Retry policy for requests, and for the reconnections of an event stream."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: int = Field(default=8, ge=1)
    seconds: float = Field(default=180.0, ge=0)
    """Time limit for retrying, in seconds. A delay that would exceed it is not started."""
    first_pause: float = Field(default=0.5, ge=0)
    """First delay in seconds, which doubles with every attempt. The actual delay is a random value below that. The
    service's Retry-After takes precedence."""
    longest_pause: float = Field(default=20.0, ge=0)
