"""A request's body to rows, by what it says it is."""

import datetime as dt
import io
from collections.abc import Generator
from contextlib import closing
from pathlib import PurePath
from typing import BinaryIO, Literal, TypeAlias

from assayer.errors import InputError
from assayer.ideas import parse_idea
from assayer.texts import decode_text
from orchestrator.batches.json_rows import json_rows, jsonl_rows
from orchestrator.batches.parts import Part, parts
from orchestrator.batches.rows import AcceptedRow, Read, RejectedRow, Remark, rejected
from orchestrator.batches.settings import BatchSettings
from orchestrator.batches.table import table_rows

__all__ = ["MEDIA", "BodyKind", "read_rows"]

BodyKind: TypeAlias = Literal["jsonl", "csv", "form"]
MEDIA: dict[str, BodyKind] = {
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/x-jsonlines": "jsonl",
    "text/csv": "csv",
    "multipart/form-data": "form",
}
"""What a batch may come as, by media type."""
_PDF = b"%PDF-"
_HEAD = 1_024
"""A PDF's mark may stand anywhere in so many first bytes."""


def read_rows(
    file: BinaryIO, kind: BodyKind, content_type: str, limits: BatchSettings, today: dt.date
) -> Generator[Read, None, None]:
    """In order, a row at a time. Raises InputError when nothing of the body can be read, or it has too many rows.

    A cutoff after `today` rejects its row.
    """
    match kind:
        case "jsonl":
            rows = jsonl_rows(file, "", 1, limits.row_characters, today)
        case "csv":
            rows = table_rows(file, "", 1, limits.row_characters, today)
        case "form":
            rows = _files(file, content_type, limits, today)
    with closing(rows):
        for row in rows:
            if not isinstance(row, Remark) and _number(row) > limits.rows:
                most = f"{limits.rows:,}"
                raise InputError(f"A batch may have {most} rows, and this one has more.", "Send several batches.")
            yield row


def _number(row: AcceptedRow | RejectedRow) -> int:
    return row.number if isinstance(row, AcceptedRow) else row.row


def _files(file: BinaryIO, content_type: str, limits: BatchSettings, today: dt.date) -> Generator[Read, None, None]:
    """A file that cannot be read is one rejected row."""
    last = 0
    for part in parts(file, content_type, limits.file_bytes):
        first = last + 1
        try:
            for row in _rows(part, first, limits, today):
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
            raise InputError(f"{name} is of no kind that is read.", "Send .pdf, .txt, .md, .json, .jsonl or .csv.")


def _pdf(name: str, data: bytes) -> bytes:
    """Whether it can be parsed is found out in a process that may die of it, when the job begins."""
    if not data:
        raise InputError(f"{name} is empty.", "Was the upload cut off?")
    if _PDF not in data[:_HEAD]:
        raise InputError(f"{name} is not a PDF: nothing in its beginning says so.", "Send the PDF itself, or .txt.")
    return data
