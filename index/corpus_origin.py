"""Find a corpus's versions, either in a folder that contains all of them or in a bucket from which they are
downloaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from assayer.errors import CorpusError
from index.versions.version_store import VersionStore

Opened = TypeVar("Opened")


class CorpusOrigin(Protocol):
    def get_newest_version(self) -> str:
        """Return the name of the newest known version, or an empty string if there is none. Never blocks."""
        ...

    def check_for_newest(self) -> None:
        """Check for the newest version and wait for the result. Raises CorpusError if none is available."""
        ...

    def fetch(self, version: str) -> str:
        """Make a version, by default the newest, available on this machine, and return its name. Raises CorpusError if
        it cannot be downloaded."""
        ...

    def repair(self, version: str) -> bool:
        """Download damaged files again, and return whether any were. Raises CorpusError if the download fails."""
        ...


class FolderOrigin:
    """Implements CorpusOrigin for a folder in which all versions are already present."""

    def __init__(self, directory: Path) -> None:
        self._versions = VersionStore(directory)

    def get_newest_version(self) -> str:
        return self._versions.read_current_version()

    def check_for_newest(self) -> None:
        """Do nothing, because no version can arrive from elsewhere."""

    def fetch(self, version: str) -> str:
        return version

    def repair(self, version: str) -> bool:
        return False


def open_or_download(origin: CorpusOrigin, version: str, opener: Callable[[str], Opened]) -> Opened:
    """Download a version if necessary, by default the newest, and open it. A damaged version is repaired by another
    download, but only once. Raises CorpusError if it cannot be downloaded or is still damaged."""
    directory = origin.fetch(version)
    try:
        return opener(directory)
    except CorpusError as damage:
        try:
            repaired = origin.repair(directory)
        except CorpusError:
            raise damage from None
        if not repaired:
            raise
    return opener(directory)
