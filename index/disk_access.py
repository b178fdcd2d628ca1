"""Helpers for writing below a directory: locks, hard links, and explanations of operating system errors."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assayer.errors import CorpusError, InputError

_HINTS = {
    errno.ENOSPC: "Free some space and run the command again.",
    errno.EDQUOT: "Free some space and run the command again.",
    errno.EFBIG: "Raise the limit on file sizes (ulimit -f) and run the command again.",
    errno.EROFS: "Mount the disk for writing, or set another directory: ASSAYER_CORPUS__PATH.",
    errno.EACCES: "Allow this user to write there, or set another directory: ASSAYER_CORPUS__PATH.",
    errno.EPERM: "Allow this user to write there, or set another directory: ASSAYER_CORPUS__PATH.",
    errno.ENOTDIR: "Set a path that is a directory: ASSAYER_CORPUS__PATH.",
    errno.EEXIST: "Set a path that is a directory: ASSAYER_CORPUS__PATH.",
}


@contextmanager
def hold_folder_lock(folder: Path, lock: str = ".lock") -> Iterator[None]:
    """Hold an exclusive lock on a folder, because a second process would delete the first process's files as leftovers.
    Raises InputError if the folder is missing or read-only, or if another process holds the lock."""
    try:
        file = (folder / lock).open("wb")
    except FileNotFoundError:
        raise InputError(f"There is no folder {folder}.", "Create one: assayer corpus ingest.") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another run is using {folder}.", "Wait until it has finished.") from None
        yield


@contextmanager
def explain_disk_errors(directory: Path) -> Iterator[None]:
    """Turn an OSError into a CorpusError with advice."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        hint = _HINTS.get(error.errno or 0, "")
        raise CorpusError(f"The corpus in {directory} cannot be written: {reason}.", hint) from error


@contextmanager
def convert_library_errors(directory: Path) -> Iterator[None]:
    """Turn FAISS's and tantivy's exceptions for disk errors, such as a full disk, into an OSError."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        for number in _HINTS:
            if os.strerror(number) in str(error):
                raise OSError(number, os.strerror(number), str(directory)) from error
        raise


def link_or_copy(source: Path, target: Path) -> None:
    """Create a hard link, or a copy if the disk does not support hard links. Raises OSError if neither is possible."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        shutil.copyfile(source, target)


def sync(path: Path) -> None:
    """Flush a file or directory to disk, so that it is complete even after a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_line(path: Path, line: str) -> None:
    """Append a line and flush it to disk. If the file's last line was cut off, start a new one. Raises OSError if the
    file cannot be written."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())
