"""Limits on how much of a repository is read."""

import datetime as dt
from typing import Annotated

from pydantic import Field, StringConstraints

from assayer.models import Frozen


class CodeSettings(Frozen):
    clone_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s?#]+[^/\s?#]$")] | None = None
    """Base URL from which git fetches repositories, such as `https://github.com`. If None, repositories are read
    through the API, with one request per file, which counts against its rate limit."""
    paths: int = Field(default=2_000, ge=1)
    """Maximum paths listed from the tree."""
    file_bytes: int = Field(default=200_000, gt=0)
    """Maximum bytes read from the README and from each source file."""
    sources: int = Field(default=40, ge=0)
    """Maximum number of Python files read through git."""
    sources_over_api: int = Field(default=8, ge=0)
    retry: dt.timedelta = dt.timedelta(hours=6)
    """Time for which a commit that could not be read is not retried."""
    clone_bytes: int = Field(default=200_000_000, gt=0)
    """Maximum bytes of any file that git writes; a fetched commit is a single pack file."""
    listing_bytes: int = Field(default=20_000_000, gt=0)
    """Maximum bytes of git's listing of a tree."""
    clone_seconds: float = Field(default=120.0, gt=0)
    memory_bytes: int = Field(default=1_500_000_000, gt=0)
    """Address space limit of git and of the Python parser, in bytes."""
    cpu_seconds: int = Field(default=60, ge=1)
    clones_at_once: int = Field(default=4, ge=1)
