"""Ideas from a CSV file: a header, then one idea per row. A broken row does not affect the others."""

import csv
import datetime as dt
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from assayer.errors import InputError
from assayer.ideas.record_forms import holds_idea
from assayer.ideas.records import idea_of_record
from assayer.ideas.reference_column import reference_column, with_reference
from assayer.ideas.tables import IdeaOfRow, TableIdeas, check_column_count, check_columns
from assayer.models import Idea
from assayer.text.bounded_lines import BoundedLine, TooManyLines, check_readable

_DELIMITERS = (",", ";", "\t", "|")
_SEPARATOR_LINE = re.compile(r"\s*\"?sep=(?P<delimiter>[^\r\n\"])\"?\s*", re.IGNORECASE)
"""Pattern for a line that tells Excel which separator the file uses; it is not part of the table."""
_BEGINNING = 20_000
"""Characters of a longer header whose columns are counted first."""
_LINES_ABOVE = 10
"""Maximum lines above the header, such as the title of an export."""


class _Header(NamedTuple):
    delimiter: str
    names: list[str]
    line: int = 1
    """Line number of the header in the file, from 1."""
    above: tuple[str, ...] = ()
    """Lines above the header, which are not read."""


def csv_ideas(
    lines: Iterator[BoundedLine],
    what: str,
    encoding: str,
    max_chars: int,
    row_name: Callable[[int], str],
    latest_cutoff: dt.date | None,
    references: str = "",
) -> TableIdeas:
    """Read the header of a CSV file at once and its ideas on demand, each of at most `max_chars` characters. `row_name`
    names a row by its number; `references` is the column with the sender's ids, if it is not `id`. Raises InputError if
    no row can be an idea."""
    header = _read_header(lines, what, encoding)

    def rows() -> Iterator[IdeaOfRow]:
        for number, record in enumerate(_records(lines, header, max_chars), 1):
            name = row_name(number)
            fields: dict[str, str] = {}
            idea: Idea | InputError
            try:
                where = f"{name} (line {record.line})"
                fields = with_reference(_fields(record.cells, header.names, encoding, where), references)
                idea = idea_of_record(fields, name, latest_cutoff)
            except InputError as error:
                idea = error
            yield IdeaOfRow(number, fields, idea)

    return TableIdeas(header.above, [], rows())


def csv_reference_column(lines: Iterator[BoundedLine], what: str, encoding: str, max_chars: int) -> str:
    """Return the column of a CSV file with a reference for each row, or an empty string (see `reference_column`). If no
    column has such a name, only the header is read. Raises InputError as `csv_ideas` does."""
    header = _read_header(lines, what, encoding)
    rows = (
        {name.strip(): cell for name, cell in zip(header.names, record.cells, strict=False)}
        for record in _records(lines, header, max_chars)
        if isinstance(record.cells, list) and len(record.cells) >= len(header.names)
    )
    return reference_column(header.names, rows)


def _read_header(lines: Iterator[BoundedLine], what: str, encoding: str) -> _Header:
    """Read the header, which must be on a single line, and the lines above it. Raises InputError if there is no column
    that can hold ideas."""
    delimiters: Sequence[str] = _DELIMITERS
    above: list[str] = []
    first: _Header | None = None
    for number, line in enumerate(lines, 1):
        if number == 1 and (match := _SEPARATOR_LINE.fullmatch(line.text)):
            delimiters = (match["delimiter"],)
            continue
        if line.text.strip():
            header = _header(line, delimiters, what, encoding)._replace(line=number)
            if holds_idea(header.names):
                check_columns(header.names, what)
                return header._replace(above=tuple(above))
            first = first or header
            above.append(" ".join(filter(None, (name.strip() for name in header.names))))
        if number > _LINES_ABOVE:
            break
    if first is None:
        raise InputError(f"{what} has no header.", "Put the names of the columns on the first line: title,text.")
    check_columns(first.names, what)
    return first


def _header(line: BoundedLine, delimiters: Sequence[str], what: str, encoding: str) -> _Header:
    if not line.whole:
        raise InputError(f"{what} has a first line that is too long to be a header.", "Name the columns: title,text.")
    check_readable(line.text, encoding, f"The header of {what}")
    if len(line.text) > _BEGINNING:  # most headers with far too many columns are refused at a tenth of the cost
        check_column_count(max(len(_cells(line.text[:_BEGINNING], item, strict=False)) for item in delimiters), what)
    present = [delimiter for delimiter in delimiters if delimiter in line.text] or delimiters[:1]
    parsed = [_Header(delimiter, _cells(line.text, delimiter)) for delimiter in present]
    check_column_count(max(len(item.names) for item in parsed), what)
    return max(parsed, key=lambda item: (holds_idea(item.names), len(item.names)))


def _records(lines: Iterator[BoundedLine], header: _Header, max_chars: int) -> "Iterator[_Record]":
    """Yield the records after the header, without blank ones."""
    # The csv module's limit applies to the whole process, and its default is shorter than an idea can be.
    csv.field_size_limit(max(csv.field_size_limit(), max_chars))
    records = _Records(lines, max_chars, header.line)
    while record := records.next(header.delimiter):
        if not isinstance(record.cells, list) or any(cell.strip() for cell in record.cells):
            yield record


class _Record(NamedTuple):
    line: int
    """Number of the record's first line, from 1."""
    cells: list[str] | InputError


class _Records:
    """Splits lines into records. After a broken record it continues with the next line, so that an unclosed quote does
    not consume the rest of the file."""

    def __init__(self, source: Iterator[BoundedLine], max_chars: int, line: int) -> None:
        """Read records from the line that follows line number `line`, the header."""
        self._source = source
        self._max_chars = max_chars
        self._again: deque[BoundedLine] = deque()
        self._taken: list[BoundedLine] = []
        self._line = line

    def next(self, delimiter: str) -> _Record | None:
        """Return the next record, or None at the end."""
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
        """Skip blank lines without a CSV reader, which would take five times as long."""
        while line := self._next_line():
            if not line.whole or not line.text.isspace():
                self._again.appendleft(line)
                return
            self._line += 1

    def _next_line(self) -> BoundedLine | None:
        """Return the next line, or None at the end."""
        return self._again.popleft() if self._again else next(self._source, None)

    def _lines(self) -> Iterator[str]:
        taken = 0
        while line := self._next_line():
            self._taken.append(line)
            taken += len(line.text)
            if not line.whole or taken > self._max_chars:
                raise InputError(
                    f"The row has more than {self._max_chars:,} characters.",
                    "Check whether a quote is missing at the end of a cell.",
                )
            yield line.text

    def _explain(self, error: Exception) -> InputError:
        if isinstance(error, InputError):
            return error
        if "unexpected end" in str(error):
            return InputError("A quote is opened but never closed.", 'Close it, and write a quote within a cell as "".')
        if "expected after" in str(error):
            return InputError(
                "A quoted cell contains a single quote, or a quote is missing.", 'Write a quote within a cell as "".'
            )
        return InputError(f"The row is not valid CSV: {error}.", "Check its quotes.")


def _cells(line: str, delimiter: str, strict: bool = True) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=strict))
    except csv.Error:
        return []


def _fields(cells: list[str] | InputError, names: Sequence[str], encoding: str, where: str) -> dict[str, str]:
    """Return the cells by column, without empty cells. Empty cells beyond the last column are ignored."""
    if isinstance(cells, InputError):
        raise InputError(f"{where} is malformed. {cells.message}", cells.hint)
    if len(cells) < len(names) or any(cell.strip() for cell in cells[len(names) :]):
        raise InputError(
            f"{where} has {len(cells)} cell{'s' * (len(cells) != 1)}, and the header has {len(names)} columns.",
            "Put quotes around cells that contain the separator or several lines.",
        )
    fields = {name.strip(): cell for name, cell in zip(names, cells, strict=False) if name.strip() and cell.strip()}
    for name, cell in fields.items():
        check_readable(cell, encoding, f"{where}, column {name},", name)
    return fields
