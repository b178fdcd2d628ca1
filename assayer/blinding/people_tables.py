"""Find people in tables whose columns have a label such as `Name` or `Responsible`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from assayer.blinding.labelled_lines import people_of_value
from assayer.blinding.mentions import SMALL_WORD
from assayer.blinding.names import has_given_name
from assayer.blinding.people import NamedPerson
from assayer.blinding.people_labels import COMPANIONS, is_people_label, is_vague_label
from assayer.blinding.spans import MaskSpan

_RULE = re.compile(r"[\s|:=+-]*")
"""Pattern for a line between the header and the rows of a Markdown table, or a blank line."""
_MAX_CELL_CHARS = 300


class _Cell(NamedTuple):
    start: int
    text: str


def find_people_in_tables(text: str) -> Iterator[NamedPerson]:
    """Yield the people in columns with a label of people. Their spans cover whole cells. Columns with labels such as
    `Name` count only beside a column such as `Role`, or if they contain a known first name."""
    if "|" not in text:
        return
    small = frozenset(SMALL_WORD.findall(text))
    columns: list[int] = []
    width, place = 0, 0
    for line in text.split("\n"):
        cells = _split_row(line, place)
        place += len(line) + 1
        if len(cells) > 1 and len(cells) == width:
            yield from _people_of_row(cells, columns, small)
        elif len(cells) > 1:
            columns, width = _columns_of_people(cells), len(cells)
        elif not _RULE.fullmatch(line):
            width = 0


def _split_row(line: str, start: int) -> list[_Cell]:
    if "|" not in line or _RULE.fullmatch(line):
        return []
    bare = line.strip().strip("|")
    start += line.index(bare)
    found, place = list[_Cell](), start
    for part in bare.split("|"):
        text = part.strip()
        found.append(_Cell(place + part.index(text), text))
        place += len(part) + 1
    return found


def _columns_of_people(header: list[_Cell]) -> list[int]:
    """Return the numbers of the columns that name people; negative, minus one, if they may also name things."""
    beside = any(COMPANIONS.search(cell.text) for cell in header)
    return [
        number if beside or not is_vague_label(cell.text) else -1 - number
        for number, cell in enumerate(header)
        if is_people_label(cell.text)
    ]


def _people_of_row(cells: list[_Cell], columns: list[int], small: frozenset[str]) -> Iterator[NamedPerson]:
    for column in columns:
        cell = cells[column if column >= 0 else -1 - column]
        people = people_of_value(cell.text, small) if len(cell.text) <= _MAX_CELL_CHARS else []
        if column < 0 and not any(map(has_given_name, people)):
            continue
        span = MaskSpan(cell.start, cell.start + len(cell.text), "name")
        yield from (NamedPerson(span, person) for person in people)
