"""Ideas as JSON: one record per line, or a list of records."""

import datetime as dt
from collections.abc import Generator
from contextlib import closing
from typing import BinaryIO

from assayer.errors import InputError
from assayer.ideas.records import decode_json, idea_of_record, named_source
from assayer.text.decoding import Encoding, decode_text, encoding_of
from orchestrator.batches.rows import (
    AcceptedRow,
    BoundedLine,
    LineCounter,
    RejectedRow,
    RowOrNotice,
    bounded_lines,
    check_readable,
    rejected_row,
    row_name,
)

__all__ = ["json_rows", "jsonl_rows"]


def jsonl_rows(
    file: BinaryIO, name: str, first: int, most: int, latest_cutoff: dt.date, lines: LineCounter
) -> Generator[RowOrNotice, None, None]:
    """Rows count lines, from `first`. Raises InputError when the whole file cannot be read."""
    encoding = encoding_of(file, name or "The body")
    with closing(bounded_lines(file, encoding, most, lines)) as source_lines:
        for number, line in enumerate(source_lines):
            if not line.text.strip():
                continue
            row, source = first + number, row_name(name, number + 1, first + number)
            try:
                _check(line, source, encoding, most)
                yield _row(row, source, decode_json(line.text, source), latest_cutoff)
            except InputError as error:
                yield rejected_row(row, source, error)


def json_rows(file: BinaryIO, name: str, first: int, latest_cutoff: dt.date) -> Generator[RowOrNotice, None, None]:
    """Of a list of records, or of a single one. Raises InputError when the whole file cannot be read."""
    what = name or "The body"
    content = decode_json(decode_text(file.read(), what), what)
    for number, record in enumerate(content if isinstance(content, list) else [content]):
        source = row_name(name, number + 1, first + number)
        try:
            yield _row(first + number, source, record, latest_cutoff)
        except InputError as error:
            yield rejected_row(first + number, source, error)


def _check(line: BoundedLine, source: str, encoding: Encoding, most: int) -> None:
    if not line.whole:
        raise InputError(f"{source} has more than {most:,} characters.", "Shorten it, or send it as a file.")
    check_readable(line.text, encoding, source)


def _row(row: int, source: str, record: object, latest_cutoff: dt.date) -> AcceptedRow | RejectedRow:
    try:
        return AcceptedRow(row, source, idea_of_record(record, source, latest_cutoff), None)
    except InputError as error:
        if not isinstance(record, dict):
            return rejected_row(row, source, error)
        return rejected_row(row, named_source(source, record), error, "text")
