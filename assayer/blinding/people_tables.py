"""Find people in tables whose columns have a label such as `Name` or `Responsible`, and after labels in brackets."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from assayer.blinding.labelled_lines import people_of_value
from assayer.blinding.mentions import find_small_words, person_of_word
from assayer.blinding.names import has_given_name
from assayer.blinding.people import NamedPerson
from assayer.blinding.people_labels import COMPANIONS, FAMILY_LABELS, GIVEN_LABELS, is_people_label, is_vague_label
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan

_RULE = re.compile(r"[\s|:=+-]*")
"""Pattern for a line between the header and the rows of a Markdown table, or a blank line."""
_IN_BRACKETS = re.compile(r"(?<=[(\[;])\s?(?P<label>[^()\[\]:：;\n]{1,40})[:：]\s?(?P<value>[^()\[\];\n]{3,200})")
_MAX_CELL_CHARS = 300


class _Cell(NamedTuple):
    start: int
    text: str

    @property
    def span(self) -> MaskSpan:
        return MaskSpan(self.start, self.start + len(self.text), "name")


class _Columns(NamedTuple):
    """Numbers of the columns of a table that name people."""

    names: tuple[int, ...] = ()
    perhaps: tuple[int, ...] = ()
    """Columns that may also name things."""
    family: int | None = None
    given: int | None = None


def find_people_in_tables(text: str) -> Iterator[NamedPerson]:
    """Yield the people in columns with a label of people. Their spans cover whole cells. Columns with labels such as
    `Name` count only beside a column such as `Role`, or if they contain a known first name."""
    if "|" not in text:
        return
    small = find_small_words(text)
    columns, width, place = _Columns(), 0, 0
    for line in text.split("\n"):
        cells = _split_row(line, place)
        place += len(line) + 1
        if len(cells) > 1 and len(cells) == width:
            yield from _people_of_row(cells, columns, small)
        elif len(cells) > 1:
            columns, width = _columns_of_people(cells), len(cells)
        elif not _RULE.fullmatch(line):
            width = 0


def find_people_in_brackets(text: str) -> Iterator[NamedPerson]:
    """Yield the people after labels within brackets: `Coring (lead: Jane Roe; support: Tom Poe)`."""
    small = find_small_words(text)
    for match in _IN_BRACKETS.finditer(text):
        if is_people_label(match["label"]):
            span = MaskSpan(*match.span("value"), "name")
            yield from (NamedPerson(span, person) for person in people_of_value(match["value"], small))


def _split_row(line: str, start: int) -> list[_Cell]:
    if "|" not in line or _RULE.fullmatch(line):
        return []
    bare = line.strip().strip("|")
    start += line.index(bare)
    cells, place = list[_Cell](), start
    for part in bare.split("|"):
        text = part.strip()
        cells.append(_Cell(place + part.index(text), text))
        place += len(part) + 1
    return cells


def _columns_of_people(header: list[_Cell]) -> _Columns:
    labels = [cell.text.strip(" *_") for cell in header]
    beside = any(map(COMPANIONS.search, labels))
    people = [number for number, label in enumerate(labels) if is_people_label(label)]
    family = next((number for number, label in enumerate(labels) if FAMILY_LABELS.fullmatch(label)), None)
    given = next((number for number, label in enumerate(labels) if GIVEN_LABELS.fullmatch(label)), None)
    if family is not None and given not in (None, family):
        return _Columns(tuple(number for number in people if number not in (family, given)), (), family, given)
    sure = tuple(number for number in people if beside or not is_vague_label(labels[number]))
    return _Columns(sure, tuple(number for number in people if number not in sure))


def _people_of_row(cells: list[_Cell], columns: _Columns, small: frozenset[str]) -> Iterator[NamedPerson]:
    if columns.family is not None and columns.given is not None:
        family, given = cells[columns.family], cells[columns.given]
        if person_of_word(family.text.split(" ")[-1], small) or person_of_word(given.text.split(" ")[0], small):
            yield from (NamedPerson(cell.span, Person(given.text, family.text)) for cell in (family, given))
    for column in (*columns.names, *columns.perhaps):
        cell = cells[column]
        people = people_of_value(cell.text, small) if len(cell.text) <= _MAX_CELL_CHARS else []
        if column in columns.names or any(map(has_given_name, people)):
            yield from (NamedPerson(cell.span, person) for person in people)
