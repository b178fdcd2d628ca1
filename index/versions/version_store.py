"""Manage a corpus's directory: immutable segments, versions made of them, and the name of the current version.

    DIRECTORY/
    ├── current                  the current version; replaced atomically
    ├── lock                     held while a build is running
    ├── segments/SEGMENT/        never changed after it was moved here; shared by versions
    └── versions/VERSION/        never changed after it was published

A reader that has opened a version keeps it even if newer versions are published: it holds a lock on the version, and
locked versions are not removed."""

import fcntl
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assayer.errors import CorpusError
from index.disk_access import sync
from index.hashing import verify_files
from index.versions.manifest import MANIFEST, Manifest, OtherFormatError, read_manifest

_LOG = logging.getLogger(__name__)
_UNFINISHED = "unfinished-"
BM25_FOLDER = "words"
"""Directory of a version's two BM25 indexes, one for papers and one for passages."""
REJECTED_FILE = "rejected.jsonl"


class VersionStore:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._versions = directory / "versions"
        self._segments = directory / "segments"
        self._current = directory / "current"
        self._next_path = directory / "current.next"

    def get_version_path(self, version: str) -> Path:
        return self._versions / version

    def get_segment_path(self, name: str) -> Path:
        return self._segments / name

    def read_current_version(self) -> str:
        """Return the current corpus version, or an empty string if there is none."""
        try:
            return self._current.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def find_current_path(self) -> Path:
        """Return the directory of the current version. Raises CorpusError if there is none."""
        version = self.read_current_version()
        if not version or not self.get_version_path(version).is_dir():
            raise CorpusError(
                f"There is no corpus in {self.directory}.",
                "Build one: assayer corpus build PATH. To see a report without a corpus of your own: assayer example.",
            )
        return self.get_version_path(version)

    def verify(self, manifest: Manifest) -> None:
        """Verify all of a version's files. Raises CorpusError, which names the first file that is missing or has
        changed since it was written."""
        verify_files(manifest.files, self.get_version_path(manifest.version))
        for segment in manifest.segments:
            verify_files(segment.files, self.get_segment_path(segment.name))

    def read_intact_manifest(self, version: str | None = None) -> Manifest | None:
        """Return a version's manifest (by default the current version's), or None if any of its files is missing or
        changed."""
        try:
            manifest = read_manifest(self.find_current_path() if version is None else self.get_version_path(version))
            self.verify(manifest)
        except CorpusError:
            return None
        return manifest

    @contextmanager
    def hold_build_lock(self) -> Iterator[None]:
        """Lock the corpus for a build, and remove leftovers of interrupted builds. Raises CorpusError if another
        process is building here."""
        self._versions.mkdir(parents=True, exist_ok=True)
        with (self.directory / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CorpusError(
                    f"Another process is building the corpus in {self.directory}.", "Wait until it has finished."
                ) from None
            for leftover in self.directory.glob(f"*/{_UNFINISHED}*"):
                shutil.rmtree(leftover)
            self._next_path.unlink(missing_ok=True)
            yield

    @contextmanager
    def create_scratch_directory(self) -> Iterator[Path]:
        """Yield a directory to build in. It is removed afterwards, unless it was moved into place."""
        path = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=self._versions))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def add_segment(self, folder: Path, segment: str) -> None:
        """Move a finished segment into place. This must happen before a version refers to it."""
        self._segments.mkdir(exist_ok=True)
        self._move(folder, self.get_segment_path(segment))

    def publish(self, folder: Path, version: str) -> None:
        """Move a finished version into place and make it the current version."""
        self.add_version(folder, version)
        self.set_current(version)

    def add_version(self, folder: Path, version: str) -> None:
        """Move a finished version into place, so that it can be opened by name."""
        self._move(folder, self.get_version_path(version))

    @contextmanager
    def remove_on_error(self, version: str) -> Iterator[None]:
        """Remove a new version if an exception is raised."""
        try:
            yield
        except BaseException:
            _remove_unless_held(self.get_version_path(version))
            raise

    def _move(self, folder: Path, place: Path) -> None:
        _allow_as_umask(folder)
        for path in [*folder.rglob("*"), folder]:
            sync(path)
        if place.exists():
            shutil.rmtree(place)
        folder.rename(place)
        sync(place.parent)

    def set_current(self, version: str) -> None:
        self._next_path.write_text(version + "\n", "ascii")
        sync(self._next_path)
        self._next_path.replace(self._current)
        sync(self.directory)

    def hold_version(self, version: str) -> int:
        """Lock a version, so that it is not removed while the returned file descriptor is open. Raises CorpusError if
        it has already been removed."""
        removed_error = CorpusError(f"Version {version} of the corpus in {self.directory} has been removed.")
        try:
            descriptor = os.open(self.get_version_path(version) / MANIFEST, os.O_RDONLY)
        except OSError:
            raise removed_error from None
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        if not os.fstat(descriptor).st_nlink:  # another process removed it before the lock was granted
            os.close(descriptor)
            raise removed_error
        return descriptor

    def prune(self, keep: int) -> None:
        """Remove all but the newest `keep` versions, and the segments that no remaining version uses. The current
        version and versions in use always stay. Failed removals are retried the next time."""
        try:
            self.keep_only(self.list_newest_versions(keep))
            self.prune_segments()
        except OSError as error:
            _LOG.warning("old versions of the corpus in %s were not removed: %s", self.directory, error)

    def list_newest_versions(self, count: int) -> list[str]:
        """Return up to `count` versions: the current one, then the others, most recent first. Raises CorpusError if
        there is no current version."""
        current = self.find_current_path()
        other_paths = [self.get_version_path(name) for name in self.list_complete_versions() if name != current.name]
        other_paths.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        return [path.name for path in [current, *other_paths][:count]]

    def list_complete_versions(self) -> list[str]:
        """Return the complete versions. Versions whose removal has begun but not finished are left out."""
        return sorted(path.parent.name for path in self._versions.glob(f"*/{MANIFEST}"))

    def remove(self, version: str) -> bool:
        """Remove a version. Returns False if it stays because it is in use."""
        return _remove_unless_held(self.get_version_path(version))

    def keep_only(self, versions: Iterable[str]) -> None:
        """Remove all versions except these, the current version and versions in use."""
        kept_names = {self.read_current_version(), *versions}
        for path in [path for path in self._versions.iterdir() if path.name not in kept_names]:
            _remove_unless_held(path)

    def remove_segments(self) -> None:
        """Remove all segments. Must only be called if no version uses any."""
        if self._segments.exists():
            shutil.rmtree(self._segments)

    def prune_segments(self) -> None:
        """Remove the segments that no version uses. If a version cannot be read, none are removed, because it may use
        any of them."""
        used_segments: set[str] = set()
        for version in self.list_complete_versions():
            try:
                used_segments |= {segment.name for segment in read_manifest(self.get_version_path(version)).segments}
            except CorpusError as error:
                if isinstance(error, OtherFormatError) and self.remove(version):
                    continue
                _LOG.warning("unused segments of the corpus in %s were not removed: %s", self.directory, error)
                return
        for path in self._segments.glob("*"):
            if path.name not in used_segments:
                shutil.rmtree(path)


def _remove_unless_held(version: Path) -> bool:
    """Remove a version, its manifest first, so that no reader finds a partial version. Returns False if it stays
    because it is in use."""
    try:
        # Open for writing, although nothing is written: NFS grants exclusive locks only on files opened for writing.
        with (version / MANIFEST).open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (version / MANIFEST).unlink()
    except BlockingIOError:
        return False
    except FileNotFoundError:
        pass  # left over from an interrupted removal
    shutil.rmtree(version)
    return True


def _allow_as_umask(folder: Path) -> None:
    """Give a folder and its contents the permissions that the umask allows, because temporary folders and some of
    tantivy's files can be read only by their owner."""
    probe = folder / ".umask"
    probe.touch()
    files = stat.S_IMODE(probe.stat().st_mode)
    probe.unlink()
    folders = files | (files & 0o444) >> 2
    for path in [folder, *folder.rglob("*")]:
        mode = folders if path.is_dir() else files
        if stat.S_IMODE(path.stat().st_mode) & mode != mode:
            path.chmod(mode)
