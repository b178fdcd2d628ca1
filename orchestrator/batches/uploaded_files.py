"""Files of a multipart/form-data body or a ZIP archive, read in sequence. No file is written under a name taken from
the input."""

import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import IO, BinaryIO, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from assayer.errors import InputError
from assayer.text.tex import is_tex_document
from orchestrator.batches.rows import display_name
from orchestrator.settings import BatchSettings

_PIECE = 1 << 16

_DIRECTORY_BYTES = 4_000_000
"""Maximum bytes of an archive's directory, enough for about 40,000 names."""
_ENCRYPTED = 0x1
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods. Other methods use as much memory as the archive requests."""
_UNWRITTEN = ("Cc", "Cs", "Cn")
"""Unicode categories that never occur in file names: control characters, unpaired surrogates and unassigned code
points."""
_IN_FORMS = {"%22": '"', "%0D": "\r", "%0A": "\n"}
"""Escapes that browsers use for these characters in file names (HTML, multipart/form-data). They do not escape `%`
itself, so a name that literally contains such a sequence is ambiguous, which is rare."""
_NOT_OF_TEX = (".docx", ".odt", ".json", ".jsonl", ".csv", ".xlsx", ".html", ".rtf")
"""Extensions of files that are ideas themselves and not parts of a TeX document."""
_MOST_TEX_FILES = 200
_ADDED_BY_SYSTEMS = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


class UploadedFile(NamedTuple):
    name: str
    """File name without folders; empty for a form field that is not a file."""
    data: bytes | None
    """Contents of the file; None if it is larger than allowed."""


class _FormCollector:
    """Callbacks of the form parser; finished files are in `done`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.done: list[UploadedFile] = []
        self.ended = False
        self.begin()

    def begin(self) -> None:
        self._field, self._value = b"", b""
        self._disposition = b""
        self._data: bytearray | None = bytearray()

    def header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field, self._value = b"", b""

    def body(self, data: bytes, start: int, end: int) -> None:
        if self._data is None:
            return
        self._data += memoryview(data)[start:end]
        if len(self._data) > self._most:
            self._data = None

    def part_end(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"filename", b"").decode("utf-8", "replace")
        for written, sign in _IN_FORMS.items():
            name = name.replace(written, sign)
        self.done.append(UploadedFile(display_name(name), None if self._data is None else bytes(self._data)))
        self._data = None

    def end(self) -> None:
        self.ended = True


def form_files(file: BinaryIO, content_type: str, most: int) -> Iterator[UploadedFile]:
    """Yield the files of a form in order. Files larger than `most` bytes come without data. Raises InputError if
    the body is not such a form."""
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if not boundary:
        raise InputError("The Content-Type names no boundary.", "Let your HTTP library write that header.")
    collector = _FormCollector(most)
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": collector.begin,
                "on_header_field": collector.header_field,
                "on_header_value": collector.header_value,
                "on_header_end": collector.header_end,
                "on_part_data": collector.body,
                "on_part_end": collector.part_end,
                "on_end": collector.end,
            },
        )
        while piece := file.read(_PIECE):
            parser.write(piece)
            yield from collector.done
            collector.done.clear()
    except FormParserError as error:
        raise InputError(f"The body is not multipart/form-data: {error}.", "Send it with an HTTP library.") from None
    if not collector.ended:
        raise InputError("The body ends within a file.", "Was the upload cut off? Send it again.")


class ArchiveRefused(InputError):
    """Error raised for an archive that is malicious or too large as a whole; none of it is used."""


class UnreadableFile(NamedTuple):
    """Placeholder for a file that cannot be unpacked."""

    name: str
    error: InputError


class ArchiveReader:
    """Reader of the archives of a request, whose unpacked files share a limit of `archive_bytes`."""

    def __init__(self, limits: BatchSettings) -> None:
        self._limits = limits
        self._left = limits.archive_bytes

    def files(self, file: BinaryIO, name: str) -> Iterator[UploadedFile | UnreadableFile]:
        """Yield the files of an archive in order. Raises ArchiveRefused, and InputError if the file is not an
        archive."""
        label = name or "The body"
        try:
            archive = zipfile.ZipFile(_BoundedReads(file))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise InputError(f"{label} is not a ZIP archive: {error}.", "Was the upload cut off?") from None
        with archive:
            for entry in archive.infolist():
                _check_name(entry)
            entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_added(entry)]
            if main := self._main_of_tex_document(archive, entries, label):
                file.seek(0)
                yield UploadedFile(main, file.read(self._limits.file_bytes + 1))
                return
            for entry in entries:
                yield self._file(archive, entry, label)

    def _main_of_tex_document(
        self, archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], label: str
    ) -> str | None:
        """Return the name of the main file if the archive holds one TeX document and nothing else that can be an idea;
        None otherwise."""
        if any(entry.filename.lower().endswith(_NOT_OF_TEX) for entry in entries):
            return None
        left, sources = self._left, [entry for entry in entries if entry.filename.lower().endswith(".tex")]
        mains = []
        for entry in sources[:_MOST_TEX_FILES]:
            file = self._file(archive, entry, label)
            if isinstance(file, UploadedFile) and is_tex_document(file.data or b""):
                mains.append(file.name)
        self._left = left
        return mains[0] if len(mains) == 1 else None

    def _file(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, label: str) -> UploadedFile | UnreadableFile:
        name = display_name(entry.filename)
        if entry.flag_bits & _ENCRYPTED:
            return UnreadableFile(name, InputError(f"{name} is encrypted.", "Pack it without a password."))
        if entry.compress_type not in _COMPRESSIONS:
            return UnreadableFile(
                name, InputError(f"{name} is compressed with an unusual method.", "Use stored or deflated files.")
            )
        try:
            with archive.open(entry) as packed:
                data, size = _unpacked(packed, self._limits.file_bytes)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            return UnreadableFile(name, InputError(f"{name} cannot be unpacked: {error}.", "Pack it again."))
        self._left -= size
        if self._left < 0:
            most = f"{self._limits.archive_bytes / 1e6:g} MB"
            raise ArchiveRefused(
                f"With {name} in {label} the archives of this request hold more than {most}, unpacked.",
                "Send them in several parts.",
            )
        return UploadedFile(name, data)


class _BoundedReads:
    """File that reads at most `_DIRECTORY_BYTES` at once. This is needed because zipfile reads an archive's directory
    in a single piece, of any size that the archive claims."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _DIRECTORY_BYTES:
            raise ArchiveRefused("The archive has more files than can be read at once.", "Send several batches.")
        return self._file.read(size)


def _check_name(entry: zipfile.ZipInfo) -> None:
    """Check an entry's name. Raises ArchiveRefused for a name that would leave the target folder or contains
    characters that never occur in names. Spaces and characters of all scripts are allowed, as macOS itself adds
    some."""
    name = entry.orig_filename.replace("\\", "/")
    path = PurePosixPath(name)
    if any(unicodedata.category(sign) in _UNWRITTEN for sign in name):
        raise ArchiveRefused(
            f"The archive has an entry {name[:100]!r}, whose name holds control characters.",
            "Give the file another name.",
        )
    leads_out = path.is_absolute() or ".." in path.parts or name[1:2] == ":"
    if leads_out or stat.S_ISLNK(entry.external_attr >> 16):
        raise ArchiveRefused(
            f"The archive has an entry {name[:100]!r}, which would leave the folder it is unpacked into.",
            "Pack the files themselves, by name.",
        )


def _is_added(entry: zipfile.ZipInfo) -> bool:
    """Return True if the operating system, and not the sender, added the entry."""
    return any(part in _ADDED_BY_SYSTEMS or part.startswith("._") for part in PurePosixPath(entry.filename).parts)


def _unpacked(packed: IO[bytes], most: int) -> tuple[bytes | None, int]:
    """Return the unpacked data, None if it exceeds `most` bytes, and the number of bytes unpacked. The size that an
    entry claims is not trusted."""
    data = bytearray()
    while piece := packed.read(_PIECE):
        data += piece
        if len(data) > most:
            return None, len(data)
    return bytes(data), len(data)
