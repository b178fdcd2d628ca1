"""Rows of a batch, accepted or rejected, and the lines of text that they are read from."""

import codecs
import io
import re
from collections.abc import Callable, Generator
from typing import BinaryIO, NamedTuple, TypeAlias

from assayer.errors import InputError
from assayer.models import Frozen, Idea
from assayer.reports.escaping import one_line
from assayer.text.decoding import Encoding

__all__ = [
    "AcceptedRow",
    "BoundedLine",
    "FileNotice",
    "LineCounter",
    "ReadingAbandoned",
    "RejectedRow",
    "RowOrNotice",
    "TooManyLines",
    "bounded_lines",
    "check_readable",
    "display_name",
    "rejected_row",
    "row_name",
]

_LONGEST_NAME = 120
_UNDECODABLE = re.compile("[\udc80-\udcff]")
"""Bytes that could not be decoded, as `surrogateescape` represents them."""
_ENCODING_NAMES = {"cp1252": "Windows-1252"}


class AcceptedRow(NamedTuple):
    number: int
    """From 1, over the whole request. Blank rows have numbers and are skipped; a table's header has none."""
    source: str
    """For people: `proposals.csv:12`, `row 12`."""
    idea: Idea | None
    """None for a document, which is parsed when its job starts."""
    document: bytes | None


class RejectedRow(Frozen):
    """A row that holds no usable idea, and why. The others are evaluated."""

    row: int
    source: str
    field: str
    """The field at fault; empty for the whole row."""
    detail: str
    """What was wrong, and what to do."""


class FileNotice(Frozen):
    """A remark about a whole file for its sender."""

    text: str


RowOrNotice: TypeAlias = AcceptedRow | RejectedRow | FileNotice


def row_name(file: str, number: int, row: int) -> str:
    """The name of a row: its number in its file, or in the batch where the body is the file (`file` is empty)."""
    return f"{file}:{number}" if file else f"row {row}"


def rejected_row(number: int, source: str, error: InputError, field: str = "") -> RejectedRow:
    return RejectedRow(row=number, source=source, field=error.field or field, detail=str(error))


def display_name(name: str) -> str:
    """The file name of an upload, without folders, on one line, not too long."""
    line = one_line(name.replace("\\", "/").rsplit("/", 1)[-1])
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"


def check_readable(text: str, encoding: str, what: str, field: str = "") -> None:
    """Raises InputError when the text has bytes that are no character in the file's encoding."""
    if found := _UNDECODABLE.search(text):
        name = _ENCODING_NAMES.get(encoding, codecs.lookup(encoding).name.upper().removesuffix("-SIG"))
        raise InputError(
            f"{what} holds the byte 0x{ord(found[0]) - 0xDC00:02X} after {found.start():,} characters, which is not "
            f"{name} as the rest of the file.",
            "Save the file as UTF-8.",
            field,
        )


class TooManyLines(InputError):
    """What comes after them is not read."""


class ReadingAbandoned(Exception):
    """Nobody waits for the rows any more."""


class LineCounter:
    """Counts the lines of one request, in all its files together: blank ones are no rows, and cost time as well."""

    def __init__(self, most: int, is_abandoned: Callable[[], bool]) -> None:
        self._most = most
        self._is_abandoned = is_abandoned
        self._counted = 0

    def count(self) -> None:
        """One line. Raises TooManyLines and ReadingAbandoned."""
        self.go_on()
        self._counted += 1
        if self._counted > self._most:
            raise TooManyLines(
                f"A request may have {self._most:,} lines of text, and this one has more.",
                "Split it into several batches, and leave out blank lines.",
            )

    def go_on(self) -> None:
        """Raises ReadingAbandoned."""
        if self._is_abandoned():
            raise ReadingAbandoned


class BoundedLine(NamedTuple):
    text: str
    """With its end of line."""
    whole: bool
    """False when it was longer than allowed: what came after is left out."""


def bounded_lines(
    file: BinaryIO, encoding: Encoding, most: int, lines: LineCounter
) -> Generator[BoundedLine, None, None]:
    """Ends of line are `\\n`, `\\r\\n` and `\\r`; bytes that cannot be decoded are kept as surrogates.

    Raises what the counter does. To be closed before the file is."""
    # No such bytes in UTF-16, where every pair is a character or half of one.
    errors = "replace" if encoding == "utf-16" else "surrogateescape"
    text = io.TextIOWrapper(file, encoding, errors, newline="")
    try:
        while line := text.readline(most + 1):
            lines.count()
            whole = len(line) <= most or line.endswith(("\n", "\r"))
            rest = line
            while not rest.endswith(("\n", "\r")) and (rest := text.readline(most)):
                whole = False
            yield BoundedLine(line, whole)
    finally:
        text.detach()
