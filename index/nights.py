"""What became of each nightly update, in lines of JSON in the corpus's directory: one when a night begins, one when it
has ended, which stands in the place of the first."""

import datetime as dt
import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Literal

from pydantic import ValidationError

from assayer.models import Frozen
from index.alone import alone_in
from index.building.stages import Stage
from index.disk import writing_to
from index.versions.manifest import Changes, RejectionCount

__all__ = ["History", "Night", "Outcome"]

Outcome = Literal["published", "unchanged", "failed", "running", "cut off"]
"""`cut off`: nobody wrote how it ended, and nobody is at work."""

_FILE = "history.jsonl"
_CUT_OFF = "It was killed, or the machine stopped."


class Night(Frozen):
    began: dt.datetime
    seconds: float = 0.0
    outcome: Outcome
    why: str = ""
    """Of one that failed or was cut off: what was wrong, where, and what to do."""
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
        self._directory = directory
        self._path = directory / _FILE

    @contextmanager
    def begun(self, night: Night) -> Iterator[None]:
        """Notes that it is at work, and holds the history until it has ended. Raises InputError while another does,
        and CorpusError."""
        with ExitStack() as stack:
            stack.enter_context(alone_in(self._directory, "night.lock"))
            with writing_to(self._directory):
                file = stack.enter_context(self._path.open("ab"))
                fcntl.flock(file, fcntl.LOCK_EX)  # who reads holds it for a moment
                self.append(night.model_copy(update={"outcome": "running"}))
            yield

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
            with self._path.open("rb") as file:
                at_work = _held(file)
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        found = _ended([night for line in lines if (night := _night(line))], at_work)
        return found if last is None else found[max(0, len(found) - last) :]


def _ended(noted: list[Night], at_work: bool) -> list[Night]:
    """One for each night, as nights never overlap; the last may be at work."""
    found: list[Night] = []
    for night in noted:
        if found and found[-1].outcome == "running" and found[-1].began == night.began:
            found.pop()
        found.append(night)
    cut = {"outcome": "cut off", "why": _CUT_OFF}
    last = len(found) - 1 if at_work else len(found)
    return [
        night.model_copy(update=cut) if night.outcome == "running" and place != last else night
        for place, night in enumerate(found)
    ]


def _held(file: IO[bytes]) -> bool:
    """By a night. By nobody else from now on, until the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _ends_whole(file: IO[bytes]) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _night(line: bytes) -> Night | None:
    try:
        return Night.model_validate_json(line)
    except ValidationError:
        return None
