"""Checksums are verified once a machine, not once a process: the next one trusts files that have not changed since.

What was found whole is noted with the sizes, times and numbers of its files, and with the start of the machine. Who
changes a file behind all of these is found out after the machine's next start.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from assayer.models import Frozen
from index.files import FileSum, verify
from index.versions.manifest import Manifest
from index.versions.versions import Versions

__all__ = ["Proofs"]

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class _File(Frozen):
    path: str
    sha256: str
    bytes: int
    changed_ns: int
    number: int


class _Proof(Frozen):
    directory: Path
    boot: str
    files: tuple[_File, ...]


class Proofs:
    """Kept in a folder that only this user may write in; without one everything is verified."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def verify(self, versions: Versions, manifest: Manifest) -> None:
        """Raises CorpusError naming the first file that is missing or not as it was written."""
        self._verify(manifest.files, versions.path(manifest.version))
        for segment in manifest.segments:
            self._verify(segment.files, versions.segment(segment.name))

    def _verify(self, files: Sequence[FileSum], directory: Path) -> None:
        if self._folder is None:
            verify(files, directory)
            return
        place = self._folder / f"{hashlib.sha256(bytes(directory.resolve())).hexdigest()[:32]}.json"
        seen = _seen(files, directory)
        if seen is not None and _read(place) == seen:
            return
        verify(files, directory)
        if seen is not None:
            self._note(seen, place)

    def _note(self, proof: _Proof, place: Path) -> None:
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            for other in place.parent.glob("*.json"):
                told = _read(other)
                if told is None or not told.directory.exists():
                    other.unlink(missing_ok=True)
            following = place.with_suffix(f".{os.getpid()}")
            following.write_text(proof.model_dump_json(), "utf-8")
            following.replace(place)
        except OSError:
            return  # the next process verifies again


def _seen(files: Sequence[FileSum], directory: Path) -> _Proof | None:
    """None where a file is missing."""
    try:
        stats = [(file, (directory / file.path).stat()) for file in files]
        boot = _BOOT.read_text("ascii").strip()
    except OSError:
        return None
    return _Proof(
        directory=directory.resolve(),
        boot=boot,
        files=tuple(
            _File(
                path=file.path, sha256=file.sha256, bytes=stat.st_size, changed_ns=stat.st_mtime_ns, number=stat.st_ino
            )
            for file, stat in stats
        ),
    )


def _read(place: Path) -> _Proof | None:
    try:
        return _Proof.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        return None
