"""How much of a repository is read."""

import datetime as dt
from typing import Annotated

from pydantic import Field, StringConstraints

from assayer.models import Frozen

__all__ = ["CodeSettings"]


class CodeSettings(Frozen):
    clone_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s?#]+[^/\s?#]$")] | None = None
    """Where repositories are fetched from with git, as `https://github.com`; None reads through the API, a request a
    file, which counts against its limits."""
    least_stars: int = Field(default=0, ge=0)
    """Repositories with fewer are not searched."""
    paths: int = Field(default=2_000, ge=1)
    """Of the tree that are listed."""
    file_bytes: int = Field(default=200_000, gt=0)
    """Of the README and of any source that is read."""
    sources: int = Field(default=40, ge=0)
    """Python files that are read, the shallow ones first."""
    sources_over_api: int = Field(default=8, ge=0)
    retry: dt.timedelta = dt.timedelta(hours=6)
    """A state of a repository that could not be read is left alone for so long; one that was read never changes."""
    clone_bytes: int = Field(default=200_000_000, gt=0)
    """Of any file that git writes: a fetched state is one pack."""
    listing_bytes: int = Field(default=20_000_000, gt=0)
    """Of git's list of a tree."""
    clone_seconds: float = Field(default=120.0, gt=0)
    memory_bytes: int = Field(default=1_500_000_000, gt=0)
    """Address space of git, and of the parser of Python files."""
    cpu_seconds: int = Field(default=60, ge=1)
    clones_at_once: int = Field(default=4, ge=1)
