"""Settings for reading web pages: limits and cache lifetimes."""

import datetime as dt
import os

from pydantic import Field

from assayer.models import Frozen
from workers.fetching import DownloadLimits


class PageSettings(Frozen):
    download: DownloadLimits = DownloadLimits(bytes=5_000_000, seconds=40.0, answer_seconds=15.0)
    keep: dt.timedelta = dt.timedelta(days=30)
    """Time after which a page that was read is fetched again."""
    retry: dt.timedelta = dt.timedelta(hours=6)
    """Time after which a page that could not be read is fetched again."""
    characters: int = Field(default=400_000, gt=0)
    """Maximum number of characters in the page's article."""
    memory_bytes: int = Field(default=1_000_000_000, gt=0)
    """Address space limit, in bytes, for the process that reads the page."""
    cpu_seconds: int = Field(default=15, ge=1)
    wall_seconds: float = Field(default=30.0, gt=0)
    at_once: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    """Maximum number of concurrent processes that read pages."""
