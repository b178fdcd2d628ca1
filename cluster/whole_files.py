"""Reading and atomic writing of files named by users: the previous content remains until the new file is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assayer.errors import InputError


def read_whole(path: Path, most_bytes: int = 500_000_000) -> bytes:
    """Return the content of a file. Raises InputError if it cannot be read or is larger than `most_bytes`."""
    try:
        if path.is_file() and path.stat().st_size > most_bytes:
            raise InputError(f"{path} is larger than {most_bytes / 1e6:g} MB.", "Split the file.")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from None


def read_whole_text(path: Path) -> str:
    """Return the content of a UTF-8 file. Raises InputError."""
    try:
        return read_whole(path).decode()
    except UnicodeDecodeError:
        raise InputError(f"{path} cannot be read: it is not UTF-8 text.") from None


@contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing, in the same way as the client's `atomic_file`. Raises InputError."""
    from assayer_client.errors import InvalidRequest
    from assayer_client.files import atomic_file

    try:
        with atomic_file(target) as file:
            yield file
    except InvalidRequest as error:
        raise InputError(error.message, error.hint) from None


def write_whole(target: Path, content: str | bytes) -> None:
    """Write content atomically, text as UTF-8; characters that UTF-8 cannot encode (lone surrogates) become
    question marks."""
    with whole_file(target) as file:
        file.write(content.encode(errors="replace") if isinstance(content, str) else content)
