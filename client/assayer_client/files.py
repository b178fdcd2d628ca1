"""A long answer written to a file: whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from assayer_client.errors import InvalidRequest

__all__ = ["atomic_file"]


@contextmanager
def atomic_file(target: Path) -> Iterator[IO[bytes]]:
    """Written beside the target, which it replaces at the end. Raises InvalidRequest when it cannot be written."""
    try:
        file = NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False)  # noqa: SIM115
    except OSError as error:
        raise InvalidRequest(f"{target} cannot be written: {error.strerror}.") from None
    try:
        with file:
            yield file.file
        os.chmod(file.name, 0o644)
        os.replace(file.name, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(file.name)
        if isinstance(error, OSError):
            raise InvalidRequest(f"{target} cannot be written: {error.strerror or error}.") from None
        raise
