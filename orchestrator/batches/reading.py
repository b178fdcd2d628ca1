"""A request's body to rows, by what it says it is."""

import datetime as dt
import io
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import PurePath
from typing import BinaryIO, Literal, TypeAlias

from assayer.errors import InputError
from assayer.ideas import parse_idea
from assayer.texts import decode_text
from orchestrator.batches.archives import ArchiveRefused, Archives, Unreadable
from orchestrator.batches.json_rows import json_rows, jsonl_rows
from orchestrator.batches.parts import Part, parts
from orchestrator.batches.rows import AcceptedRow, Read, RejectedRow, Remark, rejected
from orchestrator.batches.settings import BatchSettings
from orchestrator.batches.table import table_rows

__all__ = ["MEDIA", "BodyKind", "read_rows"]

BodyKind: TypeAlias = Literal["jsonl", "csv", "form", "zip"]
MEDIA: dict[str, BodyKind] = {
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/x-jsonlines": "jsonl",
    "text/csv": "csv",
    "multipart/form-data": "form",
    "application/zip": "zip",
}
"""What a batch may come as, by media type."""
_ARCHIVE = ".zip"
_KINDS = ".pdf, .txt, .md, .json, .jsonl or .csv, or a .zip of them"
_PDF = b"%PDF-"
_HEAD = 1_024
"""A PDF's mark may stand anywhere in so many first bytes."""


def read_rows(
    file: BinaryIO, kind: BodyKind, content_type: str, limits: BatchSettings, today: dt.date, first: int = 1
) -> Generator[Read, None, None]:
    """In order, a row at a time, numbered from `first`. Raises InputError when nothing of the body can be read, or the
    batch comes to too many rows.

    A cutoff after `today` rejects its row.
    """
    match kind:
        case "jsonl":
            rows = jsonl_rows(file, "", first, limits.row_characters, today)
        case "csv":
            rows = table_rows(file, "", first, limits.row_characters, today)
        case "form":
            rows = _files(
                _unfolded(parts(file, content_type, limits.file_bytes), Archives(limits)), limits, today, first
            )
        case "zip":
            rows = _files(Archives(limits).files(file, ""), limits, today, first)
    with closing(rows):
        for row in rows:
            if not isinstance(row, Remark) and _number(row) > limits.rows:
                most = f"{limits.rows:,}"
                raise InputError(f"A batch may have {most} rows, and this one has more.", "Make several batches.")
            yield row


def _number(row: AcceptedRow | RejectedRow) -> int:
    return row.number if isinstance(row, AcceptedRow) else row.row


def _unfolded(those: Iterable[Part], archives: Archives) -> Iterator[Part | Unreadable]:
    """Archives among the files become the files in them. Raises ArchiveRefused."""
    for part in those:
        if part.data is None or PurePath(part.name).suffix.lower() != _ARCHIVE:
            yield part
            continue
        try:
            yield from archives.files(io.BytesIO(part.data), part.name)
        except ArchiveRefused:
            raise
        except InputError as error:
            yield Unreadable(part.name, error)


def _files(
    those: Iterable[Part | Unreadable], limits: BatchSettings, today: dt.date, first: int
) -> Generator[Read, None, None]:
    """A file that cannot be read is one rejected row."""
    last = first - 1
    for part in those:
        try:
            if isinstance(part, Unreadable):
                raise part.why
            for row in _rows(part, last + 1, limits, today):
                if not isinstance(row, Remark):
                    last = _number(row)
                yield row
        except InputError as error:
            last += 1
            yield rejected(last, part.name or f"file {last}", error)


def _rows(part: Part, first: int, limits: BatchSettings, today: dt.date) -> Generator[Read, None, None]:
    name = part.name
    if not name:
        raise InputError("A form field is no file.", "Send files only; options are query parameters.")
    if part.data is None:
        raise InputError(f"{name} has more than {limits.file_bytes / 1e6:g} MB.", "Shorten it.")
    match PurePath(name).suffix.lower():
        case ".pdf":
            yield AcceptedRow(first, name, None, _pdf(name, part.data))
        case ".txt" | ".md":
            yield AcceptedRow(first, name, parse_idea(decode_text(part.data, name), name), None)
        case ".jsonl" | ".ndjson":
            yield from jsonl_rows(io.BytesIO(part.data), name, first, limits.row_characters, today)
        case ".json":
            yield from json_rows(io.BytesIO(part.data), name, first, today)
        case ".csv":
            yield from table_rows(io.BytesIO(part.data), name, first, limits.row_characters, today)
        case _:
            raise InputError(f"{name} is of no kind that is read.", f"Send {_KINDS}.")


def _pdf(name: str, data: bytes) -> bytes:
    """Whether it can be parsed is found out in a process that may die of it, when the job begins."""
    if not data:
        raise InputError(f"{name} is empty.", "Was the upload cut off?")
    if _PDF not in data[:_HEAD]:
        raise InputError(f"{name} is not a PDF: nothing in its beginning says so.", "Send the PDF itself, or .txt.")
    return data
