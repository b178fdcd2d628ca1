"""How much one batch may hold."""

from pydantic import Field

from assayer.models import Frozen

__all__ = ["BatchSettings"]


class BatchSettings(Frozen):
    rows: int = Field(default=10_000, ge=1)
    row_characters: int = Field(default=2_000_000, gt=0)
    """Of one line of JSONL, or one row of a CSV file."""
    file_bytes: int = Field(default=50_000_000, gt=0)
    """Of one file among several."""
    archive_bytes: int = Field(default=128_000_000, gt=0)
    """Of all files of a ZIP archive, unpacked."""
    at_once: int = Field(default=2, ge=1)
    """Batches that one process reads side by side; further ones wait."""
    uploads: int = Field(default=16, ge=1)
    """Bodies of batches that one process takes in at once, onto its disk; further ones are told to come later."""
