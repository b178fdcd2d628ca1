"""Files of a multipart/form-data body or a ZIP archive, read one after another. Names from the input are never used as
file paths."""

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
from orchestrator.batches.rows import format_file_name
from orchestrator.settings import BatchSettings

_CHUNK_BYTES = 1 << 16

_MAX_DIRECTORY_BYTES = 4_000_000
"""Maximum size of an archive's directory in bytes, enough for about 40,000 names."""
_ENCRYPTED_FLAG = 0x1
_ACCEPTED_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods. Other methods use as much memory as the archive requests."""
_FORBIDDEN_CATEGORIES = ("Cc", "Cs", "Cn")
"""Unicode categories that do not occur in real file names: control characters, unpaired surrogates and unassigned code
points."""
_FORM_ESCAPES = {"%22": '"', "%0D": "\r", "%0A": "\n"}
"""Escapes that browsers use for these characters in file names (HTML, multipart/form-data). They do not escape `%`
itself, so a name that literally contains such a sequence is ambiguous, which is rare."""
_IDEA_SUFFIXES = (".docx", ".odt", ".json", ".jsonl", ".csv", ".xlsx", ".html", ".rtf")
"""Extensions of files that are ideas themselves, not parts of a TeX document."""
_MAX_TEX_FILES = 200
_SYSTEM_FILES = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


class UploadedFile(NamedTuple):
    name: str
    """File name without folders; empty for a form field that is not a file."""
    data: bytes | None
    """Contents of the file; None if it is larger than allowed."""


class _FormCollector:
    """Callbacks of the form parser; finished files are in `files`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.files: list[UploadedFile] = []
        self.is_complete = False
        self.begin_part()

    def begin_part(self) -> None:
        self._field, self._value = b"", b""
        self._disposition = b""
        self._data: bytearray | None = bytearray()

    def add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end_header(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field, self._value = b"", b""

    def add_data(self, data: bytes, start: int, end: int) -> None:
        if self._data is None:
            return
        self._data += memoryview(data)[start:end]
        if len(self._data) > self._max_bytes:
            self._data = None

    def end_part(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"filename", b"").decode("utf-8", "replace")
        for escape, character in _FORM_ESCAPES.items():
            name = name.replace(escape, character)
        self.files.append(UploadedFile(format_file_name(name), None if self._data is None else bytes(self._data)))
        self._data = None

    def end_form(self) -> None:
        self.is_complete = True


def read_form_files(file: BinaryIO, content_type: str, max_bytes: int) -> Iterator[UploadedFile]:
    """Yield the files of a form in order; files larger than `max_bytes` have no data. Raises InputError if the body is
    not a complete form."""
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if not boundary:
        raise InputError("The Content-Type header has no boundary.", "Let your HTTP library set this header.")
    collector = _FormCollector(max_bytes)
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": collector.begin_part,
                "on_header_field": collector.add_header_name,
                "on_header_value": collector.add_header_value,
                "on_header_end": collector.end_header,
                "on_part_data": collector.add_data,
                "on_part_end": collector.end_part,
                "on_end": collector.end_form,
            },
        )
        while chunk := file.read(_CHUNK_BYTES):
            parser.write(chunk)
            yield from collector.files
            collector.files.clear()
    except FormParserError as error:
        raise InputError(f"The body is not multipart/form-data: {error}.", "Send it with an HTTP library.") from None
    if not collector.is_complete:
        raise InputError("The body ends in the middle of a file.", "The upload may have been cut off. Send it again.")


class ArchiveRefused(InputError):
    """Raised for an archive that is malicious or too large; none of its files are used."""


class UnreadableFile(NamedTuple):
    """Placeholder for a file that cannot be unpacked."""

    name: str
    error: InputError


class ArchiveReader:
    """Reader of a request's archives. The limit `archive_bytes` applies to all their unpacked files together."""

    def __init__(self, limits: BatchSettings) -> None:
        self._limits = limits
        self._bytes_left = limits.archive_bytes

    def read_files(self, file: BinaryIO, name: str) -> Iterator[UploadedFile | UnreadableFile]:
        """Yield the files of an archive in order. Raises ArchiveRefused, and InputError if the file is not an
        archive."""
        label = name or "The body"
        try:
            archive = zipfile.ZipFile(_BoundedFile(file))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise InputError(f"{label} is not a ZIP archive: {error}.", "Check that the upload was complete.") from None
        with archive:
            for entry in archive.infolist():
                _check_entry_name(entry)
            entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_system_file(entry)]
            if main_file := self._find_tex_main_file(archive, entries, label):
                file.seek(0)
                yield UploadedFile(main_file, file.read(self._limits.file_bytes + 1))
                return
            for entry in entries:
                yield self._unpack_entry(archive, entry, label)

    def _find_tex_main_file(
        self, archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], label: str
    ) -> str | None:
        """Return the name of the main file if the archive contains a single TeX document and no other file that could
        be an idea; otherwise None."""
        if any(entry.filename.lower().endswith(_IDEA_SUFFIXES) for entry in entries):
            return None
        bytes_left, tex_entries = (
            self._bytes_left,
            [entry for entry in entries if entry.filename.lower().endswith(".tex")],
        )
        main_files = []
        for entry in tex_entries[:_MAX_TEX_FILES]:
            file = self._unpack_entry(archive, entry, label)
            if isinstance(file, UploadedFile) and is_tex_document(file.data or b""):
                main_files.append(file.name)
        self._bytes_left = bytes_left
        return main_files[0] if len(main_files) == 1 else None

    def _unpack_entry(
        self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, label: str
    ) -> UploadedFile | UnreadableFile:
        name = format_file_name(entry.filename)
        if entry.flag_bits & _ENCRYPTED_FLAG:
            return UnreadableFile(name, InputError(f"{name} is encrypted.", "Create the archive without a password."))
        if entry.compress_type not in _ACCEPTED_COMPRESSIONS:
            return UnreadableFile(
                name,
                InputError(
                    f"{name} is compressed with an unsupported method.", "Use the compression method stored or deflate."
                ),
            )
        try:
            with archive.open(entry) as compressed:
                data, size = _unpack(compressed, self._limits.file_bytes)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
            return UnreadableFile(name, InputError(f"{name} cannot be unpacked: {error}.", "Create the archive again."))
        self._bytes_left -= size
        if self._bytes_left < 0:
            limit_text = f"{self._limits.archive_bytes / 1e6:g} MB"
            raise ArchiveRefused(
                f"With {name} in {label}, the archives of this request exceed {limit_text} when unpacked.",
                "Send them in several parts.",
            )
        return UploadedFile(name, data)


class _BoundedFile:
    """File that rejects reads of more than `_MAX_DIRECTORY_BYTES`, because zipfile reads an archive's whole directory
    at once, whatever size the archive states."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _MAX_DIRECTORY_BYTES:
            raise ArchiveRefused(
                f"The archive has too many files: its directory is larger than {_MAX_DIRECTORY_BYTES / 1e6:g} MB.",
                "Send several batches.",
            )
        return self._file.read(size)


def _check_entry_name(entry: zipfile.ZipInfo) -> None:
    """Check an entry's name. Raises ArchiveRefused for a path outside of the archive's folder, a symbolic link, and
    control characters. Spaces and the characters of all scripts are allowed."""
    name = entry.orig_filename.replace("\\", "/")
    path = PurePosixPath(name)
    if any(unicodedata.category(character) in _FORBIDDEN_CATEGORIES for character in name):
        raise ArchiveRefused(
            f"The name of the archive entry {name[:100]!r} contains control characters.",
            "Rename the file.",
        )
    leaves_folder = path.is_absolute() or ".." in path.parts or name[1:2] == ":"
    if leaves_folder or stat.S_ISLNK(entry.external_attr >> 16):
        raise ArchiveRefused(
            f"The archive entry {name[:100]!r} is a link or would be extracted outside of its folder.",
            "Add the files themselves, with relative paths.",
        )


def _is_system_file(entry: zipfile.ZipInfo) -> bool:
    """Return True if the entry was added by an operating system, not by the sender."""
    return any(part in _SYSTEM_FILES or part.startswith("._") for part in PurePosixPath(entry.filename).parts)


def _unpack(compressed: IO[bytes], max_bytes: int) -> tuple[bytes | None, int]:
    """Return the unpacked data (None if it exceeds `max_bytes`) and the number of bytes unpacked. The size that an
    entry states is not trusted."""
    data = bytearray()
    while chunk := compressed.read(_CHUNK_BYTES):
        data += chunk
        if len(data) > max_bytes:
            return None, len(data)
    return bytes(data), len(data)
