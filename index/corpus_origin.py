"""Find a corpus's versions: in a folder that contains all of them, or in a bucket from which they are downloaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from assayer.errors import CorpusError
from index.versions.version_store import VersionStore

Opened = TypeVar("Opened")


class CorpusOrigin(Protocol):
    def newest(self) -> str:
        """Return the name of the newest known version, or an empty string if there is none. Never waits."""
        ...

    def look(self) -> None:
        """Look for the newest version and wait for the result. Raises CorpusError if none is available."""
        ...

    def fetch(self, version: str) -> str:
        """Make a version, by default the newest, available on this machine, and return its name. Raises CorpusError."""
        ...

    def mend(self, version: str) -> bool:
        """Download damaged files again; return False if that is impossible. Raises CorpusError."""
        ...


class FolderOrigin:
    """Implements CorpusOrigin for a folder in which all versions are already present."""

    def __init__(self, directory: Path) -> None:
        self._versions = VersionStore(directory)

    def newest(self) -> str:
        return self._versions.current_version()

    def look(self) -> None:
        """Do nothing, because there is nowhere else to look."""

    def fetch(self, version: str) -> str:
        return version

    def mend(self, version: str) -> bool:
        return False


def open_from(origin: CorpusOrigin, version: str, opener: Callable[[str], Opened]) -> Opened:
    """Open a version, by default the newest, once it is on this machine. A damaged version is downloaded again, but
    only once. Raises CorpusError."""
    directory = origin.fetch(version)
    try:
        return opener(directory)
    except CorpusError as damage:
        try:
            mended = origin.mend(directory)
        except CorpusError:
            raise damage from None
        if not mended:
            raise
    return opener(directory)
