"""The directory of a corpus: immutable versions, and one small file that names the current one.

    DIRECTORY/
    ├── current                  the version that answers; replaced atomically
    ├── lock                     held while somebody builds
    └── versions/VERSION/        never changed after it was published

A reader that has opened a version keeps it, whatever is published meanwhile.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assayer.errors import CorpusError
from index.manifest import Manifest, read_manifest, verify

__all__ = ["Versions"]

_UNFINISHED = "unfinished-"


class Versions:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._versions = directory / "versions"
        self._current = directory / "current"

    def path(self, version: str) -> Path:
        return self._versions / version

    def current(self) -> Path:
        """Directory of the current version. Raises CorpusError when there is none."""
        try:
            version = self._current.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            version = ""
        if not version or not self.path(version).is_dir():
            raise CorpusError(f"There is no corpus in {self.directory}.", "Build one: assayer corpus build PATH.")
        return self.path(version)

    def intact(self, version: str | None = None) -> Manifest | None:
        """The manifest of a version, of the current one by default, if all of it is there and whole."""
        try:
            path = self.current() if version is None else self.path(version)
            manifest = read_manifest(path)
            verify(manifest, path)
        except CorpusError:
            return None
        return manifest

    @contextmanager
    def building(self) -> Iterator[None]:
        """Raises CorpusError while another process builds here. Clears what a killed build left."""
        self._versions.mkdir(parents=True, exist_ok=True)
        with (self.directory / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CorpusError(
                    f"Another process is building the corpus in {self.directory}.", "Wait until it is done."
                ) from None
            for left in self._versions.glob(_UNFINISHED + "*"):
                shutil.rmtree(left)
            yield

    @contextmanager
    def unfinished(self) -> Iterator[Path]:
        """A directory to build in; gone afterwards unless it was published."""
        path = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=self._versions))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def publish(self, finished: Path, version: str) -> None:
        """Moves a finished directory to its place and makes it the current version."""
        for path in [*finished.rglob("*"), finished]:
            _sync(path)
        if self.path(version).exists():
            shutil.rmtree(self.path(version))
        finished.chmod(0o755)
        finished.rename(self.path(version))
        self.point_at(version)

    def point_at(self, version: str) -> None:
        following = self._current.with_name("current.next")
        following.write_text(version + "\n", "ascii")
        _sync(following)
        following.replace(self._current)
        _sync(self.directory)
        _sync(self._versions)

    def prune(self, keep: int) -> None:
        """Removes all but the newest versions; the current one stays whatever its age."""
        current = self.current()
        others = [path for path in self._versions.iterdir() if path != current]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[max(0, keep - 1) :]:
            shutil.rmtree(path)


def _sync(path: Path) -> None:
    """To the disk itself, so that a power cut cannot publish a version that is not there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
