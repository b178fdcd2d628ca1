"""Settings of the client: the address of the service, timeouts and retries."""

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["DEFAULT_URL", "RetryPolicy", "Timeouts"]

DEFAULT_URL = "http://127.0.0.1:8765"


class Timeouts(BaseModel):
    """Seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect: float = Field(default=5.0, gt=0)
    answer: float = Field(default=60.0, gt=0)
    """Timeout in seconds without a byte in either direction."""
    silence: float = Field(default=50.0, gt=0)
    """Timeout in seconds of a silent event stream; the service sends a keep-alive every 15 seconds."""


class RetryPolicy(BaseModel):
    """Retry policy of a request, or of an event stream between two requests."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: int = Field(default=8, ge=1)
    seconds: float = Field(default=180.0, ge=0)
    """Time limit in seconds for retrying: no pause starts that would exceed it."""
    first_pause: float = Field(default=0.5, ge=0)
    """First pause in seconds, doubled with every attempt and randomised below that; the service's Retry-After takes
    precedence."""
    longest_pause: float = Field(default=20.0, ge=0)
