"""Compute 64-bit hashes of ids and texts, and checksums of files."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from assayer.models import Frozen

Hashes = NDArray[np.uint64]
Item = TypeVar("Item")
Result = TypeVar("Result")
_THREADS = 4
REBUILD_HINT = "Build it again: assayer corpus build PATH."


def hash64(ids: Iterable[str]) -> Hashes:
    """Return the first 64 bits of each id's BLAKE2b hash. Among 200 million ids the probability of a collision is 1 in
    1,000, so lookups also compare the ids themselves."""
    digests = b"".join(hashlib.blake2b(id_text.encode(), digest_size=8).digest() for id_text in ids)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


class FileChecksum(Frozen):
    path: str
    """Path relative to the directory of the version or segment."""
    sha256: str
    bytes: int


def compute_checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compute_file_checksums(
    directory: Path, excluded_name: str = "", known_checksums: Mapping[str, FileChecksum] = MappingProxyType({})
) -> tuple[FileChecksum, ...]:
    """Return the checksum of every file below a directory, except files named `excluded_name`. Files whose relative
    path is in `known_checksums` are not hashed again; the checksum there is returned."""

    def get_or_compute_checksum(path: Path) -> FileChecksum:
        name = path.relative_to(directory).as_posix()
        return known_checksums.get(name) or FileChecksum(
            path=name, sha256=compute_checksum(path), bytes=path.stat().st_size
        )

    paths = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != excluded_name)
    return tuple(_map_in_threads(get_or_compute_checksum, paths))


def verify_files(files: Iterable[FileChecksum], directory: Path) -> None:
    """Check files against their checksums. Raises CorpusError naming the first file that is missing or changed."""

    def find_fault(file: FileChecksum) -> str | None:
        path = directory / file.path
        if not path.is_file():
            return f"{path} is missing"
        if path.stat().st_size != file.bytes or compute_checksum(path) != file.sha256:
            return f"{path} has changed since it was written"
        return None

    for problem in _map_in_threads(find_fault, files):
        if problem is not None:
            raise CorpusError(f"The corpus is damaged: {problem}.", REBUILD_HINT)


def _map_in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the result for each item, in order. Hashing and reading files release the interpreter's lock."""
    pool = ThreadPoolExecutor(_THREADS, "checksums")
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(cancel_futures=True)
