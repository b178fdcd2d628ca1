"""Where the versions of a corpus come from: the folder in which they lie, or a bucket from which they are pulled."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from assayer.errors import CorpusError
from index.versions.version_store import VersionStore

__all__ = ["CorpusOrigin", "FolderOrigin", "open_from"]

Opened = TypeVar("Opened")


class CorpusOrigin(Protocol):
    def newest(self) -> str:
        """Name of the newest version that is known, empty while none is. Never waits."""
        ...

    def look(self) -> None:
        """Looks for the newest version, and waits for that. Raises CorpusError where none is to be had."""
        ...

    def fetch(self, version: str) -> str:
        """Brings a version to this machine, the newest for an empty name, and returns its name; waits for that. Raises
        CorpusError."""
        ...

    def mend(self, version: str) -> bool:
        """Brings what is damaged here once more; False where it cannot. Raises CorpusError."""
        ...


class FolderOrigin:
    """Implements CorpusOrigin: all is there already."""

    def __init__(self, directory: Path) -> None:
        self._versions = VersionStore(directory)

    def newest(self) -> str:
        return self._versions.current_version()

    def look(self) -> None:
        """There is nowhere else to look."""

    def fetch(self, version: str) -> str:
        return version

    def mend(self, version: str) -> bool:
        return False


def open_from(origin: CorpusOrigin, version: str, opener: Callable[[str], Opened]) -> Opened:
    """Opens a version, by default the newest, once it is on this machine. What is found damaged is brought again once.
    Raises CorpusError."""
    found = origin.fetch(version)
    try:
        return opener(found)
    except CorpusError as damage:
        try:
            mended = origin.mend(found)
        except CorpusError:
            raise damage from None
        if not mended:
            raise
    return opener(found)
