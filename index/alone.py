"""One process at a time: in a folder that ingest writes and nights empty, and of nights in a corpus."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assayer.errors import InputError

__all__ = ["alone_in"]


@contextmanager
def alone_in(folder: Path, lock: str = ".lock") -> Iterator[None]:
    """Two in one folder would take each other's files for what a killed one has left. Raises InputError."""
    try:
        file = (folder / lock).open("wb")
    except FileNotFoundError:
        raise InputError(f"There is no folder {folder}.", "Make one: assayer corpus ingest.") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another run is at work in {folder}.", "Wait for its end.") from None
        yield
