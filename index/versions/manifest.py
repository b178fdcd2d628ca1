"""What a version of a corpus is made of."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import field_validator

from assayer.models import Frozen
from index.files import FileSum
from index.fit import FitCalibration
from index.reading.sources import Rejection, SourceFile
from index.segments.segment import SegmentEntry
from index.versions.format import FORMAT
from index.versions.sealing import Sealed, read_sealed

__all__ = ["Changes", "Manifest", "RejectionCount", "counted", "read_manifest"]


class RejectionCount(Frozen):
    reason: str
    count: int


class Changes(Frozen):
    """Of papers, against the version before."""

    before: str
    """That version."""
    new: int
    changed: int
    unchanged: int
    removed: int
    unknown: int
    """Deletions of papers that were not there."""
    embedded: int
    """Texts that had to be embedded; the others kept their vectors."""
    seconds: float
    """Until the segments were written; the word index and publishing come after."""


class Manifest(Sealed):
    format: str = FORMAT
    embedder: str
    dimensions: int
    exact_up_to: int
    segments: tuple[SegmentEntry, ...]
    """The oldest first."""
    fit: FitCalibration | None
    """None for a corpus too small to measure."""
    sources: tuple[SourceFile, ...]
    rejected: tuple[RejectionCount, ...]
    """Lines set aside, the most frequent reason first; each line is in `rejected.jsonl`."""
    changes: Changes | None
    """None for a corpus that was built anew."""
    files: tuple[FileSum, ...]
    """Of the version's own directory; those of segments stand with them."""

    @field_validator("format")
    @classmethod
    def _present(cls, value: str) -> str:
        if value != FORMAT:
            raise ValueError(f"is not {FORMAT}")
        return value

    @property
    def papers(self) -> int:
        return sum(one.papers - one.hidden for one in self.segments)

    @property
    def earliest(self) -> dt.date | None:
        return min((one.earliest for one in self.segments if one.earliest), default=None)

    @property
    def latest(self) -> dt.date | None:
        return max((one.latest for one in self.segments if one.latest), default=None)

    def total(self, count: str) -> int:
        """Over all segments, hidden papers included: `dated`, `full_texts`, `with_references`, `passages`."""
        return sum(getattr(one, count) for one in self.segments)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in (*self.files, *(file for one in self.segments for file in one.files)))


def counted(rejections: Iterable[Rejection]) -> tuple[RejectionCount, ...]:
    """The most frequent reason first."""
    reasons = Counter(rejection.reason for rejection in rejections).most_common()
    return tuple(RejectionCount(reason=reason, count=count) for reason, count in reasons)


def read_manifest(directory: Path) -> Manifest:
    """Raises CorpusError when it is missing, of another format or version, or not as it was written."""
    return read_sealed(directory, Manifest)
