"""Compute 64-bit hashes of ids and texts, and checksums of files."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from assayer.models import Frozen

Hashes = NDArray[np.uint64]
REBUILD_HINT = "Build it again: assayer corpus build PATH."


def hash64(ids: Iterable[str]) -> Hashes:
    """Return the first 64 bits of each id's BLAKE2b hash. Among 200 million ids the probability of a collision is 1 in
    1,000, so lookups also compare the ids themselves."""
    digests = b"".join(hashlib.blake2b(item.encode(), digest_size=8).digest() for item in ids)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


class FileChecksum(Frozen):
    path: str
    """Path relative to the directory of the version or segment."""
    sha256: str
    bytes: int


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_checksums(directory: Path, without: str = "") -> tuple[FileChecksum, ...]:
    """Return the checksums of every file below a directory, except files named `without`."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != without)
    return tuple(
        FileChecksum(path=path.relative_to(directory).as_posix(), sha256=checksum(path), bytes=path.stat().st_size)
        for path in paths
    )


def verify_files(files: Iterable[FileChecksum], directory: Path) -> None:
    """Check files against their checksums. Raises CorpusError naming the first file that is missing or changed."""
    for file in files:
        path = directory / file.path
        if not path.is_file():
            raise CorpusError(f"The corpus is damaged: {path} is missing.", REBUILD_HINT)
        if path.stat().st_size != file.bytes or checksum(path) != file.sha256:
            raise CorpusError(f"The corpus is damaged: {path} has changed since it was written.", REBUILD_HINT)
