"""Manifests on the disk, of a corpus that is whole and of one in shards.

Beside a manifest lies its checksum, as `sha256sum` writes it: the manifest vouches for every other file, and nothing
else would notice that a number in it has changed. It guards against damage and careless hands. Who may write in the
directory can write both: never open a corpus that somebody else may change.
"""

import hashlib
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from assayer.errors import CorpusError
from assayer.models import Frozen
from index.files import REBUILD

__all__ = ["MANIFEST", "Sealed", "read_sealed", "write_sealed"]

MANIFEST = "manifest.json"
_SEAL = "manifest.json.sha256"


class Sealed(Frozen):
    """Has a field `format` as well, which refuses those of other releases."""

    version: str
    """Hash of all that determines an answer, and the name of the directory."""


OfKind = TypeVar("OfKind", bound=Sealed)


def write_sealed(manifest: Sealed, directory: Path) -> None:
    """With its checksum beside it."""
    written = (manifest.model_dump_json(indent=1) + "\n").encode()
    (directory / MANIFEST).write_bytes(written)
    (directory / _SEAL).write_text(_seal(written), "ascii")


def read_sealed(directory: Path, kind: type[OfKind]) -> OfKind:
    """Raises CorpusError when it is missing, of another format or version, or not as it was written."""
    path = directory / MANIFEST
    try:
        written = path.read_bytes()
        manifest = kind.model_validate_json(written)
    except OSError:
        raise CorpusError(f"The corpus version in {directory} has no readable manifest.", REBUILD) from None
    except ValidationError as error:
        if any(problem["loc"] == ("format",) for problem in error.errors()):
            raise CorpusError(f"The corpus in {directory} was built by another release of assayer.", REBUILD) from None
        raise CorpusError(f"The corpus is damaged: {path} cannot be read.", REBUILD) from None
    if not _is_sealed(directory, written):
        raise CorpusError(f"The corpus is damaged: {path} is not as it was written.", REBUILD)
    if manifest.version != directory.name:
        raise CorpusError(f"The corpus is damaged: {path} is that of version {manifest.version}.", REBUILD)
    return manifest


def _is_sealed(directory: Path, written: bytes) -> bool:
    try:
        return (directory / _SEAL).read_text("ascii") == _seal(written)
    except (OSError, UnicodeDecodeError):
        return False


def _seal(written: bytes) -> str:
    return f"{hashlib.sha256(written).hexdigest()}  {MANIFEST}\n"
