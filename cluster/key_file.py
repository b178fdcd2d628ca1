"""A key of the embedded database's own, in a file beside it."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from assayer.errors import ConfigurationError

__all__ = ["kept_key"]


def kept_key(path: Path, new: bytes) -> str:
    """What the file holds; `new`, readable by its owner alone, where there is none. Several processes that come at
    once agree on one. Raises ConfigurationError."""
    try:
        if not path.exists():
            _write_once(path, new)
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"The key in {path} cannot be read or written: {error}.", "Let the user who runs assayer own that file."
        ) from None


def _write_once(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # somebody else was first
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
