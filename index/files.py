"""Files and the proof that they are whole."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from assayer.errors import CorpusError
from assayer.models import Frozen

__all__ = ["REBUILD", "FileSum", "checksum", "sums", "verify"]

REBUILD = "Build it again: assayer corpus build PATH."


class FileSum(Frozen):
    path: str
    """Relative to the directory of the version or segment."""
    sha256: str
    bytes: int


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sums(directory: Path, without: str = "") -> tuple[FileSum, ...]:
    """Of every file below a directory but the one named so."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != without)
    return tuple(
        FileSum(path=path.relative_to(directory).as_posix(), sha256=checksum(path), bytes=path.stat().st_size)
        for path in paths
    )


def verify(files: Iterable[FileSum], directory: Path) -> None:
    """Raises CorpusError naming the first file that is missing or not as it was written."""
    for file in files:
        path = directory / file.path
        if not path.is_file():
            raise CorpusError(f"The corpus is damaged: {path} is missing.", REBUILD)
        if path.stat().st_size != file.bytes or checksum(path) != file.sha256:
            raise CorpusError(f"The corpus is damaged: {path} is not as it was written.", REBUILD)
