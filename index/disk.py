"""What it means for a corpus that its directory cannot be written."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assayer.errors import CorpusError

__all__ = ["writing_to"]

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
        reason = error.strerror or str(error)
        hint = _HINTS.get(error.errno or 0, "")
        raise CorpusError(f"The corpus in {directory} cannot be written: {reason}.", hint) from error
