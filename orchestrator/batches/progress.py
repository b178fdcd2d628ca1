"""How far a batch has come, and how fast."""

import datetime as dt
from collections.abc import Mapping

from orchestrator.jobs.models import TERMINAL, JobState

__all__ = ["ended", "left", "pace"]


def ended(counts: Mapping[JobState, int]) -> int:
    return sum(count for state, count in counts.items() if state in TERMINAL)


def left(counts: Mapping[JobState, int]) -> int:
    return sum(count for state, count in counts.items() if state not in TERMINAL)


def pace(counts: Mapping[JobState, int], since: dt.datetime, until: dt.datetime) -> float | None:
    """Ideas an hour that came to a verdict of their own; None before the first. Cancelled ones tell nothing."""
    judged = ended(counts) - counts.get("cancelled", 0)
    hours = (until - since).total_seconds() / 3600
    return judged / hours if judged and hours > 0 else None
