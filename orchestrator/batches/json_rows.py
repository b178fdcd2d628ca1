"""Ideas as JSON: one record per line, or a list of records."""

import datetime as dt
from collections.abc import Generator
from contextlib import closing
from typing import BinaryIO

from assayer.errors import InputError
from assayer.ideas.own_columns import applicant_of
from assayer.ideas.record_forms import records_in
from assayer.ideas.records import decode_json, idea_of_record, record_source
from assayer.text.bounded_lines import BoundedLine, bounded_lines, check_readable
from assayer.text.decoding import decode_text, encoding_of
from assayer_client.batches import RowError
from orchestrator.batches.rows import (
    AcceptedRow,
    LineCounter,
    RowOrNotice,
    build_row_error,
    format_row_name,
)


def read_jsonl_rows(
    file: BinaryIO, name: str, first_row: int, max_chars: int, latest_cutoff: dt.date, lines: LineCounter
) -> Generator[RowOrNotice, None, None]:
    """Yield the rows. Lines, including blank ones, are numbered from `first_row`; `max_chars` is their maximum number
    of characters. Raises InputError if the file as a whole cannot be read."""
    encoding = encoding_of(file, name or "The body")
    with closing(bounded_lines(file, encoding, max_chars, lines.count)) as source_lines:
        for number, line in enumerate(source_lines):
            if not line.text.strip():
                continue
            row, source = first_row + number, format_row_name(name, number + 1, first_row + number)
            try:
                _check_line(line, source, encoding, max_chars)
                yield _read_row(row, source, _unwrap_record(decode_json(line.text, source), source), latest_cutoff)
            except InputError as error:
                yield build_row_error(row, source, error)


def read_json_rows(
    file: BinaryIO, name: str, first_row: int, latest_cutoff: dt.date
) -> Generator[RowOrNotice, None, None]:
    """Yield the rows of a JSON list of records, or of a single record. Raises InputError if the file as a whole cannot
    be read."""
    label = name or "The body"
    content = decode_json(decode_text(file.read(), label), label)
    for number, record in enumerate(records_in(content)):
        source = format_row_name(name, number + 1, first_row + number)
        try:
            yield _read_row(first_row + number, source, record, latest_cutoff)
        except InputError as error:
            yield build_row_error(first_row + number, source, error)


def _unwrap_record(content: object, source: str) -> object:
    """Return the record on a line, unwrapping it if the line is an API response. Raises InputError if the line has
    several records."""
    records = records_in(content)
    if len(records) > 1:
        raise InputError(f"{source} has {len(records):,} records on one line.", "Put each record on a separate line.")
    return records[0] if records else content


def _check_line(line: BoundedLine, source: str, encoding: str, max_chars: int) -> None:
    if not line.whole:
        raise InputError(f"{source} has more than {max_chars:,} characters.", "Shorten it, or send it as a file.")
    check_readable(line.text, encoding, source)


def _read_row(number: int, source: str, record: object, latest_cutoff: dt.date) -> AcceptedRow | RowError:
    try:
        idea = idea_of_record(record, source, latest_cutoff)
        return AcceptedRow(number, source, idea, None, applicant_of(record))
    except InputError as error:
        return build_row_error(number, record_source(record, source), error, "text" if isinstance(record, dict) else "")
