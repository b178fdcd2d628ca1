"""Ideas as a CSV file: a header, then one idea per row. A broken row does not affect the others."""

import csv
import datetime as dt
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import BinaryIO, NamedTuple

from assayer.errors import InputError
from assayer.ideas.records import holds_idea, idea_of_record, named_source
from assayer.ideas.tables import MOST_COLUMNS, check_columns
from assayer.text.decoding import Encoding, encoding_of
from orchestrator.batches.rows import (
    AcceptedRow,
    BoundedLine,
    FileNotice,
    LineCounter,
    RowOrNotice,
    TooManyLines,
    bounded_lines,
    check_readable,
    rejected_row,
    row_name,
)

__all__ = ["csv_rows"]

_DELIMITERS = (",", ";", "\t")


class _Record(NamedTuple):
    line: int
    """Number of its first line, from 1."""
    cells: list[str] | InputError


class _Records:
    """Splits lines into records. After a broken record it continues with the next line: otherwise a quote that is
    never closed would take the rest of the file."""

    def __init__(self, source: Iterator[BoundedLine], most: int) -> None:
        """From the line after the header."""
        self._source = source
        self._most = most
        self._again: deque[BoundedLine] = deque()
        self._taken: list[BoundedLine] = []
        self._line = 1

    def next(self, delimiter: str) -> _Record | None:
        """None at the end."""
        self._line += len(self._taken)
        self._taken = []
        self._skip_blank_lines()
        reader = csv.reader(self._lines(), delimiter=delimiter, strict=True)
        try:
            cells = next(reader)
        except StopIteration:
            return None
        except TooManyLines:
            raise
        except (csv.Error, InputError) as error:
            record = _Record(self._line + 1, self._explain(error))
            self._again.extendleft(reversed(self._taken[1:]))
            del self._taken[1:]
            return record
        return _Record(self._line + 1, cells)

    def _skip_blank_lines(self) -> None:
        """A reader for each would take five times as long."""
        while line := self._next_line():
            if not line.whole or not line.text.isspace():
                self._again.appendleft(line)
                return
            self._line += 1

    def _next_line(self) -> BoundedLine | None:
        """None at the end."""
        return self._again.popleft() if self._again else next(self._source, None)

    def _lines(self) -> Iterator[str]:
        taken = 0
        while line := self._next_line():
            self._taken.append(line)
            taken += len(line.text)
            if not line.whole or taken > self._most:
                raise InputError(
                    f"It has more than {self._most:,} characters.", "Is a quote missing at the end of a cell?"
                )
            yield line.text

    def _explain(self, error: Exception) -> InputError:
        if isinstance(error, InputError):
            return error
        if "unexpected end" in str(error):
            return InputError("A quote is opened and never closed.", 'Close it, and write a quote within a cell as "".')
        if "expected after" in str(error):
            return InputError(
                "A quote stands within a quoted cell, or one is missing.", 'Write a quote within a cell as "".'
            )
        return InputError(f"It is not a row of a CSV file: {error}.", "Check its quotes.")


class _Header(NamedTuple):
    delimiter: str
    names: list[str]


def csv_rows(
    file: BinaryIO, name: str, first: int, most: int, latest_cutoff: dt.date, lines: LineCounter
) -> Generator[RowOrNotice, None, None]:
    """Rows count records after the header, from `first`. Raises InputError when the whole file cannot be read."""
    what = name or "The body"
    encoding = encoding_of(file, what)
    if encoding == "cp1252":
        yield FileNotice(text=f"{what} is not UTF-8; it was read as Windows-1252.")
    # The module's own limit is for the whole process, and shorter than an idea may be.
    csv.field_size_limit(max(csv.field_size_limit(), most))
    with closing(bounded_lines(file, encoding, most, lines)) as source:
        header = _header(next(source, None), what, encoding)
        records = _Records(source, most)
        number = 0
        while record := records.next(header.delimiter):
            if isinstance(record.cells, list) and not any(cell.strip() for cell in record.cells):
                continue
            number += 1
            row = first + number - 1
            yield _row(record, header, encoding, row, row_name(name, number, row), latest_cutoff)


def _header(line: BoundedLine | None, what: str, encoding: Encoding) -> _Header:
    """The header must be on one line."""
    if line is None or not line.text.strip():
        raise InputError(f"{what} has no header.", "Put the names of the columns on the first line: title,text.")
    if not line.whole:
        raise InputError(f"{what} has a first line that is too long to be a header.", "Name the columns: title,text.")
    check_readable(line.text, encoding, f"The header of {what}")
    parsed = [_Header(one, _cells(line.text, one)) for one in _DELIMITERS]
    widest = max(parsed, key=lambda one: len(one.names))
    if len(widest.names) > MOST_COLUMNS:
        check_columns(widest.names, what)
    header = max(parsed, key=lambda one: (holds_idea(one.names), len(one.names)))
    check_columns(header.names, what)
    return header


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return []


def _row(
    record: _Record, header: _Header, encoding: Encoding, number: int, source: str, latest_cutoff: dt.date
) -> RowOrNotice:
    where = f"{source} (line {record.line})"
    try:
        fields = _fields(_cells_of(record, where), header.names, encoding, where)
    except InputError as error:
        return rejected_row(number, source, error)
    try:
        return AcceptedRow(number, source, idea_of_record(fields, source, latest_cutoff), None)
    except InputError as error:
        return rejected_row(number, named_source(source, fields), error, "text")


def _cells_of(record: _Record, where: str) -> list[str]:
    if isinstance(record.cells, InputError):
        raise InputError(f"{where} is broken. {record.cells.message}", record.cells.hint)
    return record.cells


def _fields(cells: Sequence[str], names: Sequence[str], encoding: Encoding, where: str) -> dict[str, str]:
    """By column; empty cells are left out. Empty cells beyond the last column are ignored."""
    if len(cells) < len(names) or any(cell.strip() for cell in cells[len(names) :]):
        raise InputError(
            f"{where} has {len(cells)} cells, and the header has {len(names)} columns.",
            "Put cells that hold the separator, or more than one line, into quotes.",
        )
    fields = {name.strip(): cell for name, cell in zip(names, cells, strict=False) if name.strip() and cell.strip()}
    for name, cell in fields.items():
        check_readable(cell, encoding, f"{where}, column {name},", name)
    return fields
