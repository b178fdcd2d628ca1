"""Files that people name, written whole or not at all: what was there before stays until the new one is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assayer.errors import InputError

__all__ = ["whole_file", "write_whole"]


@contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """As the client's `atomic_file`. Raises InputError."""
    from assayer_client.errors import InvalidRequest
    from assayer_client.files import atomic_file

    try:
        with atomic_file(target) as file:
            yield file
    except InvalidRequest as error:
        raise InputError(error.message, error.hint) from None


def write_whole(target: Path, content: str | bytes) -> None:
    """Text in UTF-8; what that cannot say, half a pair of surrogates, becomes a question mark."""
    with whole_file(target) as file:
        file.write(content.encode(errors="replace") if isinstance(content, str) else content)
