"""What happened to a job, in order."""

import datetime as dt
from typing import Any, Literal, TypeAlias

from assayer.models import Frozen
from orchestrator.jobs.models import JobId

__all__ = ["EventKind", "JobEvent"]

EventKind: TypeAlias = Literal[
    "queued", "started", "progress", "retried", "repinned", "done", "failed", "dead", "cancelled"
]
"""retried: back in the queue. Nothing follows one of the last four."""


class JobEvent(Frozen):
    job: JobId
    number: int
    """From 1, without gaps within a job."""
    kind: EventKind
    data: dict[str, Any]
    at: dt.datetime
