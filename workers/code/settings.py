"""Limits on how much of a repository is read."""

import datetime as dt
from typing import Annotated

from pydantic import Field, StringConstraints

from assayer.models import Frozen
from workers.fetching import DownloadLimits


class CodeSettings(Frozen):
    archive_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s?#]+[^/\s?#]$")] = (
        "https://codeload.github.com"
    )
    """Base URL for commit archives, to which `OWNER/NAME/tar.gz/SHA` is appended."""
    download: DownloadLimits = DownloadLimits(bytes=100_000_000)
    paths: int = Field(default=2_000, ge=1)
    """Maximum number of paths listed from the tree."""
    file_bytes: int = Field(default=200_000, gt=0)
    """Maximum number of bytes read from the README and from each source file."""
    sources: int = Field(default=40, ge=0)
    """Maximum number of Python files read."""
    retry: dt.timedelta = dt.timedelta(hours=6)
    """Time after which a commit that could not be read is retried."""
    memory_bytes: int = Field(default=1_500_000_000, gt=0)
    """Address space limit, in bytes, for the process that reads an archive."""
    cpu_seconds: int = Field(default=60, ge=1)
    wall_seconds: float = Field(default=120.0, gt=0)
    at_once: int = Field(default=2, ge=1)
    """Maximum number of archives downloaded and read concurrently. Each is held in memory."""

    @property
    def characters(self) -> int:
        """Return the maximum number of characters read from an archive."""
        return self.file_bytes * (self.sources + 1)
