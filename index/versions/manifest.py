"""What a version of a corpus is made of.

Beside a manifest lies its checksum, as `sha256sum` writes it: the manifest vouches for every other file, and nothing
else would notice that a number in it has changed. It guards against damage and careless hands. Who may write in the
directory can write both: never open a corpus that somebody else may change.
"""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError, field_validator

from assayer.errors import CorpusError
from assayer.models import Frozen
from index.files import REBUILD, FileSum
from index.fit import FitCalibration
from index.reading.sources import Rejection, SourceFile
from index.segments.segment import SegmentEntry
from index.versions.format import FORMAT

__all__ = [
    "MANIFEST",
    "Changes",
    "Manifest",
    "RejectionCount",
    "counted",
    "is_sealed",
    "read_manifest",
    "write_manifest",
    "write_sealed",
]

MANIFEST = "manifest.json"
_SEAL = "manifest.json.sha256"


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


class Manifest(Frozen):
    format: str = FORMAT
    version: str
    """Hash of the segments, what is hidden in them, and of everything else that determines an answer."""
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


def write_manifest(manifest: Manifest, directory: Path) -> None:
    written = (manifest.model_dump_json(indent=1) + "\n").encode()
    write_sealed(written, directory)


def write_sealed(manifest: bytes, directory: Path) -> None:
    """With its checksum beside it."""
    (directory / MANIFEST).write_bytes(manifest)
    (directory / _SEAL).write_text(_seal(manifest), "ascii")


def read_manifest(directory: Path) -> Manifest:
    """Raises CorpusError when it is missing, of another format or version, or not as it was written."""
    path = directory / MANIFEST
    try:
        written = path.read_bytes()
        manifest = Manifest.model_validate_json(written)
    except OSError:
        raise CorpusError(f"The corpus version in {directory} has no readable manifest.", REBUILD) from None
    except ValidationError as error:
        if any(problem["loc"] == ("format",) for problem in error.errors()):
            raise CorpusError(f"The corpus in {directory} was built by another release of assayer.", REBUILD) from None
        raise CorpusError(f"The corpus is damaged: {path} cannot be read.", REBUILD) from None
    if not is_sealed(directory, written):
        raise CorpusError(f"The corpus is damaged: {path} is not as it was written.", REBUILD)
    if manifest.version != directory.name:
        raise CorpusError(f"The corpus is damaged: {path} is that of version {manifest.version}.", REBUILD)
    return manifest


def is_sealed(directory: Path, written: bytes) -> bool:
    """Whether it is as it was written."""
    try:
        return (directory / _SEAL).read_text("ascii") == _seal(written)
    except (OSError, UnicodeDecodeError):
        return False


def _seal(written: bytes) -> str:
    return f"{hashlib.sha256(written).hexdigest()}  {MANIFEST}\n"
