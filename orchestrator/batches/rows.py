"""What reading a batch gives, row by row."""

import codecs
import re
from typing import NamedTuple, TypeAlias

from assayer.errors import InputError
from assayer.models import Frozen, Idea
from assayer.reports.outside import one_line

__all__ = ["AcceptedRow", "Read", "RejectedRow", "Remark", "check_readable", "place", "rejected", "shown"]

_LONGEST_NAME = 120
_ESCAPED = re.compile("[\udc80-\udcff]")
"""How `surrogateescape` keeps bytes that could not be decoded."""
_NAMES = {"cp1252": "Windows-1252"}


class AcceptedRow(NamedTuple):
    number: int
    """From 1, over the whole request. Blank rows have numbers and are passed over; a table's header has none."""
    source: str
    """For people: `proposals.csv:12`, `row 12`."""
    idea: Idea | None
    """None for a document, which is parsed when its job begins."""
    document: bytes | None


class RejectedRow(Frozen):
    """A row that gave no idea, and why. The others go on."""

    row: int
    source: str
    field: str
    """The field at fault; empty for the whole row."""
    detail: str
    """What was wrong, and what to do."""


class Remark(Frozen):
    """Something about a whole file that its sender should know."""

    text: str


Read: TypeAlias = AcceptedRow | RejectedRow | Remark


def place(file: str, number: int, row: int) -> str:
    """What a row is called: by its number in its file, or in the batch where the request is the file (`file` empty)."""
    return f"{file}:{number}" if file else f"row {row}"


def rejected(number: int, source: str, error: InputError, field: str = "") -> RejectedRow:
    return RejectedRow(row=number, source=source, field=error.field or field, detail=str(error))


def shown(name: str) -> str:
    """A file name from outside, without its folders."""
    line = one_line(name.replace("\\", "/").rsplit("/", 1)[-1])
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"


def check_readable(text: str, encoding: str, what: str, field: str = "") -> None:
    """Raises InputError when the text holds bytes that its file's encoding has no character for."""
    if found := _ESCAPED.search(text):
        name = _NAMES.get(encoding, codecs.lookup(encoding).name.upper().removesuffix("-SIG"))
        raise InputError(
            f"{what} holds the byte 0x{ord(found[0]) - 0xDC00:02X} after {found.start():,} characters, which is not "
            f"{name} as the rest of the file.",
            "Save the file as UTF-8.",
            field,
        )
