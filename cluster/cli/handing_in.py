"""Files to be sent to the service: which ones, and how many at once."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from assayer.errors import InputError
from workers.documents.reading import SUFFIXES

__all__ = ["MOST_BYTES", "bundles", "files_of"]

MOST_BYTES = 48_000_000
"""Of the files of one request; the service takes 64 MB by default, wrapping included."""
_READ = (*SUFFIXES, ".csv", ".zip")
_NOT_AN_IDEA = "cutoff.txt"
"""As in `assayer evaluate`: it lies beside ideas and holds only a date."""


def files_of(paths: Sequence[Path]) -> list[Path]:
    """The paths, and the readable files of those that are folders, by name. Raises InputError."""
    return [file for path in paths for file in _files(path)]


def _files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            if not path.is_file():
                raise InputError(f"{path} is not a file or folder.")
            return [path]
        found = [one for one in sorted(path.iterdir()) if one.suffix.lower() in _READ and one.is_file()]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    files = [one for one in found if one.name != _NOT_AN_IDEA and not one.name.startswith(".")]
    if not files:
        raise InputError(f"The folder {path} holds no {', '.join(_READ)} file; folders inside it are not searched.")
    return files


def bundles(files: Sequence[Path], most: int = MOST_BYTES) -> Iterator[list[Path]]:
    """In order, each of at most so many bytes; a larger file goes alone, and the service says what it thinks."""
    bundle: list[Path] = []
    size = 0
    for file in files:
        bytes_ = file.stat().st_size
        if bundle and size + bytes_ > most:
            yield bundle
            bundle, size = [], 0
        bundle.append(file)
        size += bytes_
    if bundle:
        yield bundle
