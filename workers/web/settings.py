"""How much of a page is read before it counts as unusable."""

import datetime as dt
import os

from pydantic import Field

from assayer.models import Frozen
from workers.fetching import DownloadLimits

__all__ = ["PageSettings"]


class PageSettings(Frozen):
    download: DownloadLimits = DownloadLimits(bytes=5_000_000, seconds=40.0, answer_seconds=15.0)
    keep: dt.timedelta = dt.timedelta(days=30)
    """A page that was read is not fetched again for so long."""
    retry: dt.timedelta = dt.timedelta(hours=6)
    """Nor one that could not be read."""
    characters: int = Field(default=400_000, gt=0)
    """Of the article in it."""
    memory_bytes: int = Field(default=1_000_000_000, gt=0)
    """Address space of the reading process."""
    cpu_seconds: int = Field(default=15, ge=1)
    wall_seconds: float = Field(default=30.0, gt=0)
    at_once: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    """Reading processes side by side."""
