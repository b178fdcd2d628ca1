"""How jobs are handed out and worked on."""

from pydantic import Field

from assayer.models import Frozen

__all__ = ["WorkSettings"]


class WorkSettings(Frozen):
    progress_seconds: float = Field(default=1.0, gt=0)
    """Between two progress events of one job."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """How long the dispatcher trusts in notifications before it looks for itself."""
    expire_seconds: float = Field(default=5.0, gt=0)
    """Between two searches for leases that ran out."""
    purge_seconds: float = Field(default=86_400.0, gt=0)
    """Between two deletions of what tenants do not keep any longer."""
    interactive_places: int = Field(default=1, ge=0)
    """Kept free for interactive jobs, as long as one place is left for the others."""
    longest_pause_seconds: float = Field(default=10.0, gt=0)
    """Between two tries while the database is out of reach."""
    settling_seconds: float = Field(default=600.0, gt=0)
    """How long the outcome of a job is kept while the database does not take it; then the job is done again."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """How long work in hand may take to end once the process is told to stop; the rest goes back into the queue."""
