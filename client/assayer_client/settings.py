"""Where the service is, and how long a client waits for it."""

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["DEFAULT_URL", "RetryPolicy", "Timeouts"]

DEFAULT_URL = "http://127.0.0.1:8765"


class Timeouts(BaseModel):
    """Seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect: float = Field(default=5.0, gt=0)
    answer: float = Field(default=60.0, gt=0)
    """Without a byte going either way."""
    silence: float = Field(default=50.0, gt=0)
    """Of a stream of events; the service sends a sign of life every 15 seconds."""


class RetryPolicy(BaseModel):
    """Of one request, or of a stream of events between two of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: int = Field(default=8, ge=1)
    seconds: float = Field(default=180.0, ge=0)
    """No pause begins that would pass it."""
    first_pause: float = Field(default=0.5, ge=0)
    """Doubled with every attempt, and drawn at random below that; the service's Retry-After is stronger."""
    longest_pause: float = Field(default=20.0, ge=0)
