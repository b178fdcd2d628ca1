"""Read files named by users, and write them atomically: the previous content remains until the new file is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assayer.errors import InputError


def read_whole(path: Path, max_bytes: int = 500_000_000) -> bytes:
    """Return a file's content. Raises InputError if it cannot be read or is larger than `max_bytes`."""
    try:
        if path.is_file() and path.stat().st_size > max_bytes:
            raise InputError(f"{path} is larger than {max_bytes / 1e6:g} MB.", "Split the file.")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from None


def read_whole_text(path: Path) -> str:
    """Return a UTF-8 file's content. Raises InputError if it cannot be read or decoded."""
    try:
        return read_whole(path).decode()
    except UnicodeDecodeError:
        raise InputError(f"{path} cannot be read: it is not UTF-8 text.") from None


@contextmanager
def open_atomic(target: Path) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing, as the client's `open_atomic_file` does. Raises InputError if it cannot be
    written."""
    from assayer_client.errors import InvalidRequest
    from assayer_client.files import open_atomic_file

    try:
        with open_atomic_file(target) as file:
            yield file
    except InvalidRequest as error:
        raise InputError(error.message, error.hint) from None


def write_whole(target: Path, content: str | bytes) -> None:
    """Write content atomically, text as UTF-8. Characters that UTF-8 cannot encode (lone surrogates) become question
    marks."""
    with open_atomic(target) as file:
        file.write(content.encode(errors="replace") if isinstance(content, str) else content)
