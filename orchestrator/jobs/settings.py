"""How long a worker may be silent, and how often a job is tried."""

from pydantic import Field

from assayer.models import Frozen

__all__ = ["QueueSettings"]


class QueueSettings(Frozen):
    lease_seconds: float = Field(default=30.0, gt=0)
    """A lease that is not beaten for so long is somebody else's. Beat at a third of it."""
    max_failures: int = Field(default=3, ge=1)
    """Tries that failed for a reason that may pass; then the job is dead."""
    max_losses: int = Field(default=6, ge=1)
    """Leases that ended without a word, or because the worker died or had to stop; then it is dead."""
    max_outages: int = Field(default=100, ge=1)
    """Tries put off because something was out of reach that every job needs; then it is dead."""
    suspect_losses: int = Field(default=3, ge=1)
    """A job that lost so many leases may be what kills its workers: of such jobs one runs at a time, so that those
    that merely ran beside it are cleared."""
    head_start: float = Field(default=20.0, ge=0)
    """Turns (of weight 1) for which a tenant's interactive jobs go before batch jobs of tenants who have had less."""
    max_usd: float | None = Field(default=None, gt=0)
    """What a job may cost whose request sets no limit."""
