"""Reading of a batch's rows from a request body according to its media type, and detection of duplicates."""

import datetime as dt
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import BinaryIO, Literal, TypeAlias

from assayer.errors import InputError
from assayer.ideas.light_markup import PLAIN_TEXT
from assayer.ideas.parsing import parse_idea
from assayer.ideas.tables import IdeaTable, table_ideas
from assayer.text.decoding import decode_text
from assayer.text.tex import looks_like_tex
from assayer_client.batches import Duplicate, RowError
from orchestrator.batches.csv_rows import read_csv_rows, read_table_rows
from orchestrator.batches.json_rows import read_json_rows, read_jsonl_rows
from orchestrator.batches.rows import AcceptedRow, FileNotice, LineCounter, RowOrNotice, build_row_error
from orchestrator.batches.uploaded_files import (
    ArchiveReader,
    ArchiveRefused,
    UnreadableFile,
    UploadedFile,
    read_form_files,
)
from orchestrator.settings import BatchSettings

BodyKind: TypeAlias = Literal["jsonl", "csv", "form", "zip"]
MEDIA_TYPES: dict[str, BodyKind] = {
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/x-jsonlines": "jsonl",
    "text/csv": "csv",
    "multipart/form-data": "form",
    "application/zip": "zip",
}
"""Media types accepted for a batch."""
_ARCHIVE_SUFFIX = ".zip"
_SUPPORTED_TYPES = (
    ".pdf, .docx, .odt, .txt, .md, .org, .rst, .adoc, .tex, .html, .rtf, .json, .jsonl, .csv, .tsv or .xlsx, a .zip "
    "of them, or a .zip of the files of a TeX document"
)
_MAX_UNREAD_NOTICES = 20
"""Maximum number of unread fields named in the notices of a batch."""
_PDF_SIGNATURE = b"%PDF-"
_PDF_HEAD_BYTES = 1_024
"""Number of leading bytes that must contain a PDF's signature."""
_OFFICE_SIGNATURES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of office documents; the second entry is for encrypted and older documents."""

TableReader = Callable[[bytes, str], IdeaTable]
"""Function that reads a workbook; the second argument is the workbook's name in errors. Raises InputError."""


def read_rows(
    file: BinaryIO,
    kind: BodyKind,
    content_type: str,
    limits: BatchSettings,
    today: dt.date,
    first_row: int = 1,
    is_abandoned: Callable[[], bool] = lambda: False,
    read_table: TableReader | None = None,
) -> Generator[RowOrNotice, None, None]:
    """Yield the rows in order, one at a time, numbered from `first_row`. A row whose cutoff is after `today` is
    rejected; without `read_table`, so are workbooks.

    Raises InputError if nothing in the body can be read, or if the batch has too many rows or lines. Raises
    ReadingAbandoned at the next line or row once `is_abandoned` returns True."""
    lines = LineCounter(limits.lines, is_abandoned)
    reader = _FileReader(limits, today, lines, read_table)
    match kind:
        case "jsonl":
            rows = read_jsonl_rows(file, "", first_row, limits.row_characters, today, lines)
        case "csv":
            rows = read_csv_rows(file, "", first_row, limits.row_characters, today, lines)
        case "form":
            files = read_form_files(file, content_type, limits.file_bytes)
            rows = reader.read_files(_unpack_archives(files, ArchiveReader(limits)), first_row)
        case "zip":
            rows = reader.read_files(ArchiveReader(limits).read_files(file, ""), first_row)
    with closing(rows):
        for row in rows:
            lines.check_abandoned()
            if not isinstance(row, FileNotice) and _get_row_number(row) > limits.rows:
                limit_text = f"{limits.rows:,}"
                raise InputError(f"The batch has more than {limit_text} rows.", "Split it into several batches.")
            yield row


def _get_row_number(row: AcceptedRow | RowError) -> int:
    return row.number if isinstance(row, AcceptedRow) else row.row


def _unpack_archives(files: Iterable[UploadedFile], archives: ArchiveReader) -> Iterator[UploadedFile | UnreadableFile]:
    """Yield the files, replacing archives by the files that they contain. Raises ArchiveRefused."""
    for file in files:
        if file.data is None or PurePath(file.name).suffix.lower() != _ARCHIVE_SUFFIX:
            yield file
            continue
        try:
            yield from archives.read_files(io.BytesIO(file.data), file.name)
        except ArchiveRefused:
            raise
        except InputError as error:
            yield UnreadableFile(file.name, error)


@dataclass(frozen=True)
class _FileReader:
    """Reader of rows from files, with the values that are the same for all files of a request."""

    limits: BatchSettings
    today: dt.date
    lines: LineCounter
    read_table: TableReader | None

    def read_files(
        self, files: Iterable[UploadedFile | UnreadableFile], first_row: int
    ) -> Generator[RowOrNotice, None, None]:
        """Yield the rows of all files. An unreadable file yields a single rejected row."""
        last_row = first_row - 1
        for file in files:
            try:
                if isinstance(file, UnreadableFile):
                    raise file.error
                for row in self._read_file(file, last_row + 1):
                    if not isinstance(row, FileNotice):
                        last_row = _get_row_number(row)
                    yield row
            except InputError as error:
                last_row += 1
                yield build_row_error(last_row, file.name or f"file {last_row}", error)

    def _read_file(self, file: UploadedFile, first_row: int) -> Generator[RowOrNotice, None, None]:
        name = file.name
        if not name:
            raise InputError("A form field is not a file upload.", "Send only files; options are query parameters.")
        if file.data is None:
            raise InputError(f"{name} is larger than {self.limits.file_bytes / 1e6:g} MB.", "Send a smaller file.")
        match PurePath(name).suffix.lower():
            case ".pdf":
                yield AcceptedRow(first_row, name, None, _check_pdf(name, file.data))
            case ".docx" | ".odt":
                yield AcceptedRow(first_row, name, None, _check_office_document(name, file.data))
            case ".xlsx":
                yield from self._read_workbook(name, _check_office_document(name, file.data), first_row)
            case suffix if suffix in PLAIN_TEXT:
                yield _build_text_row(name, file.data, first_row)
            case ".tex" | ".html" | ".htm" | ".rtf":
                yield AcceptedRow(first_row, name, None, _check_not_empty(name, file.data))
            case ".jsonl" | ".ndjson":
                yield from read_jsonl_rows(
                    io.BytesIO(file.data), name, first_row, self.limits.row_characters, self.today, self.lines
                )
            case ".json":
                yield from read_json_rows(io.BytesIO(file.data), name, first_row, self.today)
            case ".csv" | ".tsv":
                yield from read_csv_rows(
                    io.BytesIO(file.data), name, first_row, self.limits.row_characters, self.today, self.lines
                )
            case _:
                raise InputError(f"{name} has an unsupported type.", f"Send {_SUPPORTED_TYPES}.")

    def _read_workbook(self, name: str, data: bytes, first_row: int) -> Iterator[RowOrNotice]:
        if self.read_table is None:
            raise InputError(f"{name} is an Excel workbook, which this service cannot read.", "Save its sheet as CSV.")
        table = table_ideas(self.read_table(data, name), name, self.today)
        for row in read_table_rows(table, name, first_row):
            if not isinstance(row, FileNotice):
                self.lines.count()
            yield row


def _check_pdf(name: str, data: bytes) -> bytes:
    """Check that the data begins like a PDF. It is parsed later, when its job starts, in a separate process that may
    crash without consequences."""
    if _PDF_SIGNATURE not in _check_not_empty(name, data)[:_PDF_HEAD_BYTES]:
        raise InputError(f"{name} is not a PDF: it does not begin with %PDF-.", "Send a PDF or a .txt file.")
    return data


def _build_text_row(name: str, data: bytes, number: int) -> AcceptedRow:
    """Return the row of a text. TeX is stored as a document and parsed when its job starts, like a PDF."""
    text = decode_text(data, name)
    if looks_like_tex(text):
        return AcceptedRow(number, name, None, data)
    return AcceptedRow(number, name, parse_idea(text, name), None)


def _check_not_empty(name: str, data: bytes) -> bytes:
    """Return the data. Raises InputError if it is empty."""
    if not data.strip():
        raise InputError(f"{name} is empty.", "Check that the upload was complete.")
    return data


def _check_office_document(name: str, data: bytes) -> bytes:
    """Check that the data begins like an office document. It is parsed later, like a PDF."""
    if not _check_not_empty(name, data).startswith(_OFFICE_SIGNATURES):
        message = f"{name} is not an office document: its file signature (first bytes) does not match."
        raise InputError(message, "Save it again, or as PDF.")
    return data


@dataclass
class BatchIntake:
    accepted: list[AcceptedRow] = field(default_factory=list)
    rejected: list[RowError] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def row_count(self) -> int:
        return len(self.accepted) + len(self.rejected)

    @property
    def last_row(self) -> int:
        """Highest row number."""
        return max((*(row.number for row in self.accepted), *(row.row for row in self.rejected)), default=0)

    @property
    def digest(self) -> bytes:
        """SHA-256 hash of the rows' contents. It does not depend on the format in which the client sent them."""
        digest = hashlib.sha256()
        for row in self.accepted:
            cutoff = row.idea.cutoff if row.idea else None
            digest.update(f"{row.number}\0{row.source}\0{_get_content_id(row)}\0{cutoff}\n".encode())
        for rejection in self.rejected:
            digest.update(f"{rejection.row}\0{rejection.source}\0{rejection.detail}\n".encode())
        return digest.digest()


def collect_rows(rows: Iterable[RowOrNotice]) -> BatchIntake:
    """Collect the rows and notices, and find duplicates. Raises InputError if there are no rows, and the errors of
    `read_rows`."""
    intake = BatchIntake()
    row_by_content: dict[str, AcceptedRow] = {}
    for row in rows:
        if isinstance(row, FileNotice):
            intake.notices.append(row.text)
        elif isinstance(row, RowError):
            intake.rejected.append(row)
        else:
            intake.accepted.append(row)
            earlier_row = row_by_content.setdefault(_get_content_id(row), row)
            if earlier_row is not row:
                intake.duplicates.append(_build_duplicate(row, earlier_row))
    if not intake.row_count:
        raise InputError("The batch is empty.", "Send at least one row, or one file.")
    intake.notices += _describe_unread_fields(intake.accepted)
    return intake


def _describe_unread_fields(rows: Sequence[AcceptedRow]) -> list[str]:
    """Return a notice for each field of JSON or table rows that is not part of a proposal's text, because its name may
    be misspelt."""
    readings = [row.idea.reading for row in rows if row.idea is not None and row.idea.reading is not None]
    unread_counts = Counter(
        item for reading in readings for item in reading.unread_parts if item.part.startswith("the field ")
    )
    kept_fields = {f'the field "{name}"' for row in rows for name in row.applicant.columns}
    return [
        f"{'Kept, but not as text' if item.part in kept_fields else 'Not read'}: {item.part}, "
        f"in {count:,} row{'s' * (count > 1)}: {item.reason}."
        for item, count in unread_counts.most_common(_MAX_UNREAD_NOTICES)
    ]


def _build_duplicate(row: AcceptedRow, earlier_row: AcceptedRow) -> Duplicate:
    return Duplicate(
        row=row.number,
        source=_get_source(row),
        duplicate_of=earlier_row.number,
        duplicate_of_source=_get_source(earlier_row),
    )


def _get_source(row: AcceptedRow) -> str:
    return row.idea.source if row.idea else row.source


def _get_content_id(row: AcceptedRow) -> str:
    return row.idea.id if row.idea else hashlib.sha256(row.document or b"").hexdigest()
