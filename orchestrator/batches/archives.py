"""Files of a ZIP archive, one after the other. Nothing is ever written under a name from it."""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, BinaryIO, NamedTuple

from assayer.errors import InputError
from orchestrator.batches.parts import Part
from orchestrator.batches.rows import shown
from orchestrator.batches.settings import BatchSettings

__all__ = ["ArchiveRefused", "Archives", "Unreadable"]

_DIRECTORY_BYTES = 4_000_000
"""Of the list of what is in it: some 40,000 names."""
_PIECE = 1 << 16
_ENCRYPTED = 0x1
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The others take as much memory as the archive says."""
_ADDED_BY_SYSTEMS = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


class ArchiveRefused(InputError):
    """It is made to do harm, or too large as a whole: none of it is taken."""


class Unreadable(NamedTuple):
    """In the place of a file that cannot be unpacked."""

    name: str
    why: InputError


class Archives:
    """Those of one request, which have so many bytes together, unpacked."""

    def __init__(self, limits: BatchSettings) -> None:
        self._limits = limits
        self._left = limits.archive_bytes

    def files(self, file: BinaryIO, name: str) -> Iterator[Part | Unreadable]:
        """Of one archive, in their order. Raises ArchiveRefused, and InputError for what is no archive."""
        what = name or "The body"
        try:
            archive = zipfile.ZipFile(_Wary(file))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise InputError(f"{what} is not a ZIP archive: {error}.", "Was the upload cut off?") from None
        with archive:
            for entry in archive.infolist():
                _check_name(entry)
            for entry in archive.infolist():
                if not entry.is_dir() and not _is_added(entry):
                    yield self._file(archive, entry, what)

    def _file(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, what: str) -> Part | Unreadable:
        name = shown(entry.filename)
        if entry.flag_bits & _ENCRYPTED:
            return Unreadable(name, InputError(f"{name} is encrypted.", "Pack it without a password."))
        if entry.compress_type not in _COMPRESSIONS:
            return Unreadable(name, InputError(f"{name} is compressed in an unusual way.", "Pack it as others do."))
        try:
            with archive.open(entry) as packed:
                data, size = _unpacked(packed, self._limits.file_bytes)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            return Unreadable(name, InputError(f"{name} cannot be unpacked: {error}.", "Pack it anew."))
        self._left -= size
        if self._left < 0:
            most = f"{self._limits.archive_bytes / 1e6:g} MB"
            raise ArchiveRefused(
                f"With {name} in {what} the archives of this request hold more than {most}, unpacked.",
                "Send them in several parts.",
            )
        return Part(name, data)


class _Wary:
    """A file that is not read by more at once than the list of an archive may have: that list is read in one piece,
    and its size is what the archive says."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _DIRECTORY_BYTES:
            raise ArchiveRefused("The archive has more files than can be taken in at once.", "Send several batches.")
        return self._file.read(size)


def _check_name(entry: zipfile.ZipInfo) -> None:
    """Raises ArchiveRefused for a name that leads out of the folder in which somebody would unpack it."""
    name = entry.orig_filename.replace("\\", "/")
    path = PurePosixPath(name)
    leads_out = path.is_absolute() or ".." in path.parts or name[1:2] == ":" or not name.isprintable()
    if leads_out or stat.S_ISLNK(entry.external_attr >> 16):
        raise ArchiveRefused(
            f"The archive has an entry {name[:100]!r}, which leads out of it.", "Pack the files themselves, by name."
        )


def _is_added(entry: zipfile.ZipInfo) -> bool:
    """By the system that packed it, and nobody's idea."""
    return any(part in _ADDED_BY_SYSTEMS or part.startswith("._") for part in PurePosixPath(entry.filename).parts)


def _unpacked(packed: IO[bytes], most: int) -> tuple[bytes | None, int]:
    """The data, None when it is more than `most` bytes, and how many bytes were unpacked. The size that an entry
    claims is not believed."""
    data = bytearray()
    while piece := packed.read(_PIECE):
        data += piece
        if len(data) > most:
            return None, len(data)
    return bytes(data), len(data)
