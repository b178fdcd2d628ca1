"""What one API process admits, and for how long."""

from pydantic import Field

from assayer.models import Frozen

__all__ = ["ApiSettings"]


class ApiSettings(Frozen):
    max_body_bytes: int = Field(default=2_000_000, ge=1_000)
    """Of a JSON request: an idea has at most 400,000 characters."""
    max_upload_bytes: int = Field(default=64_000_000, ge=1_000)
    """Of a request that carries many ideas: a batch, a ranking."""
    linger_seconds: float = Field(default=5.0, gt=0)
    """How long the rest of a refused body is still taken in, so that its sender reads the refusal."""
    max_requests: int = Field(default=256, ge=1)
    """In work at once in this process; more are answered 503 before anything is read of them."""
    max_streams: int = Field(default=512, ge=1)
    """Event streams and waiting requests held open at once in this process. They are not counted as requests."""
    max_streams_per_key: int = Field(default=32, ge=1)
    max_wait_seconds: float = Field(default=60.0, gt=0)
    """The longest that `Prefer: wait=N` is honoured for."""
    stream_seconds: float = Field(default=3_600.0, gt=0)
    """Then an event stream ends, and its reader resumes it: a revoked key does not listen for ever."""
    heartbeat_seconds: float = Field(default=15.0, gt=0)
    """Between comments in a silent event stream, which keep proxies from closing it."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """How long a reader trusts in notifications before it looks for itself."""
    retry_seconds: int = Field(default=5, ge=1)
    """`Retry-After` of a 503."""
    open_metrics: bool = False
    """Whether `/metrics`, which names every tenant, is told to callers without an `admin` key: for closed networks."""
