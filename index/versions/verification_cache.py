"""Verify checksums once per machine instead of once per process: later processes trust files that have not changed.

Verified files are recorded with their sizes, modification times and inode numbers, and with the machine's boot id. A
change that alters none of these is detected only after the next boot. Versions share large files through hard links, so
a file that was verified under one name counts as verified under its other names."""

import hashlib
import os
from collections.abc import Sequence, Set
from pathlib import Path

from pydantic import ValidationError

from assayer.models import Frozen
from index.hashing import FileChecksum, verify_files
from index.versions.manifest import Manifest
from index.versions.version_store import VersionStore

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class _VerifiedFile(Frozen):
    path: str
    sha256: str
    bytes: int
    changed_ns: int
    number: int
    device: int

    @property
    def identity(self) -> tuple[str, int, int, int, int]:
        """Identity of the file, independent of its name."""
        return self.sha256, self.bytes, self.changed_ns, self.number, self.device


class _VerifiedFolder(Frozen):
    directory: Path
    boot: str
    files: tuple[_VerifiedFile, ...]


class VerificationCache:
    """Records verified files in a folder. Only this user may have write access to the folder. Without a folder, every
    file is verified each time."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def verify(self, versions: VersionStore, manifest: Manifest, fresh_digests: Set[str] = frozenset()) -> None:
        """Verify a version's files. `fresh_digests` contains the checksums of files that this process has just written
        and verified. Raises CorpusError, which names the first file that is missing or has changed since it was
        written."""
        self._verify(manifest.files, versions.get_version_path(manifest.version), fresh_digests)
        for segment in manifest.segments:
            self._verify(segment.files, versions.get_segment_path(segment.name), fresh_digests)

    def _verify(self, files: Sequence[FileChecksum], directory: Path, fresh_digests: Set[str]) -> None:
        if self._folder is None:
            verify_files(files, directory)
            return
        place = self._folder / f"{hashlib.sha256(bytes(directory.resolve())).hexdigest()[:32]}.json"
        state = _read_state(files, directory)
        if state is None:
            verify_files(files, directory)
            return
        if _read(place) == state:
            return
        unverified_paths = {file.path for file in state.files if file.sha256 not in fresh_digests}
        if unverified_paths:
            notes = (_read(path) for path in self._folder.glob("*.json"))
            known_identities = {
                file.identity for note in notes if note and note.boot == state.boot for file in note.files
            }
            unverified_paths -= {file.path for file in state.files if file.identity in known_identities}
        sizes = {file.path: file.bytes for file in state.files}
        verify_files(
            [file for file in files if file.path in unverified_paths or sizes[file.path] != file.bytes], directory
        )
        self._record(state, place)

    def _record(self, proof: _VerifiedFolder, place: Path) -> None:
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            for note_path in place.parent.glob("*.json"):
                state = _read(note_path)
                if state is None or not state.directory.exists():
                    note_path.unlink(missing_ok=True)
            temporary = place.with_suffix(f".{os.getpid()}")
            temporary.write_text(proof.model_dump_json(), "utf-8")
            temporary.replace(place)
        except OSError:
            return  # the next process verifies again


def _read_state(files: Sequence[FileChecksum], directory: Path) -> _VerifiedFolder | None:
    """Return the files' sizes, times and inodes; None if a file is missing."""
    try:
        stats = [(file, (directory / file.path).stat()) for file in files]
        boot = _BOOT.read_text("ascii").strip()
    except OSError:
        return None
    return _VerifiedFolder(
        directory=directory.resolve(),
        boot=boot,
        files=tuple(
            _VerifiedFile(
                path=file.path,
                sha256=file.sha256,
                bytes=stat.st_size,
                changed_ns=stat.st_mtime_ns,
                number=stat.st_ino,
                device=stat.st_dev,
            )
            for file, stat in stats
        ),
    )


def _read(place: Path) -> _VerifiedFolder | None:
    try:
        return _VerifiedFolder.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        return None
