"""Atomic writing of user-specified files: the previous content stays until the new file is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assayer.errors import InputError


@contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing, as the client's `atomic_file` does. Raises InputError."""
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
