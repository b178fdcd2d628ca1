"""What became of each nightly update: one line of JSON a night, in the corpus's directory."""

import datetime as dt
import os
from pathlib import Path
from typing import IO, Literal

from pydantic import ValidationError

from assayer.models import Frozen
from index.building.stages import Stage
from index.versions.manifest import Changes, RejectionCount

__all__ = ["History", "Night"]

_FILE = "history.jsonl"


class Night(Frozen):
    began: dt.datetime
    seconds: float
    outcome: Literal["published", "unchanged", "failed"]
    why: str = ""
    """Of a failed one: what was wrong, where, and what to do."""
    before: str
    """The version that answered."""
    after: str
    """The version that answers now; the same unless one was published."""
    papers: int
    """That answer now."""
    new: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    """Records that said what was known."""
    unknown: int = 0
    """Deletions of papers that were not there."""
    embedded: int = 0
    """Texts that the model read."""
    set_aside: tuple[RejectionCount, ...] = ()
    stages: tuple[Stage, ...] = ()
    usd: float | None = None
    """What the machine cost meanwhile; None where nobody said what an hour of it costs."""

    def having(self, changes: Changes) -> "Night":
        names = ("new", "changed", "removed", "unchanged", "unknown", "embedded")
        return self.model_copy(update={name: getattr(changes, name) for name in names})


class History:
    """Of one corpus. Lines are appended whole; one that was cut off by a power cut is passed over."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _FILE

    def append(self, night: Night) -> None:
        """Raises OSError."""
        with self._path.open("ab+") as file:
            if file.tell() and not _ends_whole(file):
                file.write(b"\n")
            file.write(night.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def nights(self, last: int | None = None) -> list[Night]:
        """The oldest first; of all, or of the last so many."""
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = [night for line in lines if (night := _night(line))]
        return found if last is None else found[max(0, len(found) - last) :]


def _ends_whole(file: IO[bytes]) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _night(line: bytes) -> Night | None:
    try:
        return Night.model_validate_json(line)
    except ValidationError:
        return None
