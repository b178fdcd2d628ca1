"""What it means for a corpus that its directory cannot be written."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assayer.errors import CorpusError

__all__ = ["library_writing", "writing_to"]

_HINTS = {
    errno.ENOSPC: "Free some space and run it again.",
    errno.EDQUOT: "Free some space and run it again.",
    errno.EFBIG: "Raise the limit of file sizes (ulimit -f) and run it again.",
    errno.EROFS: "Mount it for writing, or give another directory: ASSAYER_CORPUS__PATH.",
    errno.EACCES: "Give this user the right to write there, or another directory: ASSAYER_CORPUS__PATH.",
    errno.EPERM: "Give this user the right to write there, or another directory: ASSAYER_CORPUS__PATH.",
    errno.ENOTDIR: "Give a directory: ASSAYER_CORPUS__PATH.",
    errno.EEXIST: "Give a directory: ASSAYER_CORPUS__PATH.",
}


@contextmanager
def writing_to(directory: Path) -> Iterator[None]:
    """Turns what the operating system refuses into a CorpusError that says what to do."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        hint = _HINTS.get(error.errno or 0, "")
        raise CorpusError(f"The corpus in {directory} cannot be written: {reason}.", hint) from error


@contextmanager
def library_writing(directory: Path) -> Iterator[None]:
    """FAISS and tantivy tell of a full disk in errors of their own; it comes out as an OSError."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        for number in _HINTS:
            if os.strerror(number) in str(error):
                raise OSError(number, os.strerror(number), str(directory)) from error
        raise
