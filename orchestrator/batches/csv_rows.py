"""Rows of CSV files and workbooks: a header, then one idea per row. An invalid row does not affect the others."""

import datetime as dt
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import BinaryIO

from assayer.errors import InputError
from assayer.ideas.csv_table import csv_ideas, csv_reference_column
from assayer.ideas.own_columns import applicant_of
from assayer.ideas.records import record_source
from assayer.ideas.tables import TableIdeas, notice_above
from assayer.text.bounded_lines import bounded_lines
from assayer.text.decoding import encoding_name, encoding_of
from orchestrator.batches.rows import (
    AcceptedRow,
    FileNotice,
    LineCounter,
    RowOrNotice,
    build_row_error,
    format_row_name,
)

_UNICODE_ENCODINGS = ("utf-8", "utf-16", "utf-32")
"""Encodings that are detected reliably, so that no notice is needed."""


def read_csv_rows(
    file: BinaryIO, name: str, first_row: int, max_chars: int, latest_cutoff: dt.date, lines: LineCounter
) -> Generator[RowOrNotice, None, None]:
    """Yield the rows, numbered from `first_row` after the header. `max_chars` is the maximum number of characters in a
    row. Raises InputError if the file as a whole cannot be read."""
    label = name or "The body"
    encoding = encoding_of(file, label)
    with closing(bounded_lines(file, encoding, max_chars, lines.check_abandoned)) as source_lines:
        reference_column = csv_reference_column(source_lines, label, encoding, max_chars)
    file.seek(0)
    with closing(bounded_lines(file, encoding, max_chars, lines.count)) as source_lines:
        table = csv_ideas(
            source_lines,
            label,
            encoding,
            max_chars,
            lambda row: format_row_name(name, row, first_row + row - 1),
            latest_cutoff,
            reference_column,
        )
        if not encoding.startswith(_UNICODE_ENCODINGS):
            yield FileNotice(text=f"{label} is not UTF-8; it was read as {encoding_name(encoding)}.")
        yield from read_table_rows(table, name, first_row)


def read_table_rows(table: TableIdeas, name: str, first_row: int) -> Iterator[RowOrNotice]:
    """Yield the notices about an opened table, then its rows."""
    for notice in (*([notice_above(name or "The body", table.above)] if table.above else []), *table.notices):
        yield FileNotice(text=notice)
    for number, fields, idea in table.rows:
        row = first_row + number - 1
        source = format_row_name(name, number, row)
        if isinstance(idea, InputError):
            yield build_row_error(row, record_source(fields, source), idea, "text" if fields else "")
        else:
            yield AcceptedRow(row, source, idea, None, applicant_of(fields))
