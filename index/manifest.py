"""What a version of a corpus is made of, and the proof that its files are whole."""

import datetime as dt
from pathlib import Path

from pydantic import ValidationError, field_validator

from assayer.errors import CorpusError
from assayer.models import Frozen
from index.dense import DenseParameters
from index.fit import FitCalibration
from index.format import FORMAT
from index.sources import SourceFile, checksum

__all__ = ["FileSum", "Manifest", "RejectionCount", "read_manifest", "sums", "verify", "write_manifest"]

_NAME = "manifest.json"


class FileSum(Frozen):
    path: str
    """Relative to the version's directory."""
    sha256: str
    bytes: int


class RejectionCount(Frozen):
    reason: str
    count: int


class Manifest(Frozen):
    format: str = FORMAT
    version: str
    """Hash of the records and of everything else that determines an answer."""
    embedder: str
    dimensions: int
    papers: int
    dated: int
    earliest: dt.date | None
    latest: dt.date | None
    full_texts: int
    """Papers with sections."""
    with_references: int
    """Papers whose references the sources know."""
    passages: int
    """Beyond the one that every abstract begins with."""
    exact_up_to: int
    paper_index: DenseParameters
    passage_index: DenseParameters | None
    """None without passages of its own."""
    fit: FitCalibration | None
    """None for a corpus too small to measure."""
    sources: tuple[SourceFile, ...]
    rejected: tuple[RejectionCount, ...]
    """Lines set aside, the most frequent reason first; each line is in `rejected.jsonl`."""
    files: tuple[FileSum, ...]

    @field_validator("format")
    @classmethod
    def _present(cls, value: str) -> str:
        if value != FORMAT:
            raise ValueError(f"is not {FORMAT}")
        return value


def sums(directory: Path) -> tuple[FileSum, ...]:
    """Of every file of a version but the manifest itself."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != _NAME)
    return tuple(
        FileSum(path=path.relative_to(directory).as_posix(), sha256=checksum(path), bytes=path.stat().st_size)
        for path in paths
    )


def write_manifest(manifest: Manifest, directory: Path) -> None:
    (directory / _NAME).write_text(manifest.model_dump_json(indent=1) + "\n", "utf-8")


def read_manifest(directory: Path) -> Manifest:
    """Raises CorpusError when it is missing, damaged or of another format."""
    try:
        return Manifest.model_validate_json((directory / _NAME).read_bytes())
    except OSError:
        raise CorpusError(f"The corpus version in {directory} has no readable manifest.", _REBUILD) from None
    except ValidationError as error:
        if any(problem["loc"] == ("format",) for problem in error.errors()):
            raise CorpusError(f"The corpus in {directory} was built by another release of assayer.", _REBUILD) from None
        raise CorpusError(f"The manifest in {directory} is damaged.", _REBUILD) from None


def verify(manifest: Manifest, directory: Path) -> None:
    """Raises CorpusError naming the first file that is missing or not as it was written."""
    for file in manifest.files:
        path = directory / file.path
        if not path.is_file():
            raise CorpusError(f"The corpus is damaged: {path} is missing.", _REBUILD)
        if path.stat().st_size != file.bytes or checksum(path) != file.sha256:
            raise CorpusError(f"The corpus is damaged: {path} is not as it was written.", _REBUILD)


_REBUILD = "Build it again: assayer corpus build PATH."
