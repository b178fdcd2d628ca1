"""Footnotes of a PDF: lines in smaller type that begin with a number to which the text above them refers."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, takewhile
from typing import Protocol, TypeVar

from assayer.models import Note
from assayer.reference_lists.list_titles import list_title
from assayer.text.raised_text import ON_LINE, RAISED

_START = re.compile(r"(?P<number>\d{1,3}) ?(?=[^\W\d_]|[\"“‘(])")
_SMALLER = 0.93
"""Maximum size of a note's type, as a share of the size of the body text."""
_SAME = 0.06
_MAX_LINES = 30


class _Style(Protocol):
    @property
    def size(self) -> float: ...


class _Line(Protocol):
    @property
    def page(self) -> int: ...
    @property
    def style(self) -> _Style: ...
    @property
    def text(self) -> str: ...
    def _replace(self: "L", *, text: str) -> "L": ...


L = TypeVar("L", bound=_Line)


def part_notes(lines: Sequence[L], body_size: float) -> tuple[list[L], list[Note]]:
    """Return the lines without footnotes, with each mark written as `[^mark]`, and the footnotes. Below the title of a
    reference list, only lines in smaller type than the list, on the same page, count as footnotes."""
    end = next((place for place, line in enumerate(lines) if list_title(line.text) == "certain"), len(lines))
    text_lines: list[L] = []
    notes: list[Note] = []
    for page, page_lines in groupby(lines[:end], lambda line: line.page):
        above = _separate_notes(list(page_lines), 0, body_size, notes)
        text_lines += above
        if end < len(lines) and page == lines[end].page:
            below = list(takewhile(lambda line: line.page == lines[end].page, lines[end:]))
            list_size = min([body_size, *(line.style.size for line in below[1:2])])
            text_lines[-len(above) :] = _separate_notes([*above, *below], len(above), list_size, notes)
            return [*text_lines, *lines[end + len(below) :]], notes
    return [*text_lines, *lines[end:]], notes


def _separate_notes(page: list[L], place: int, body_size: float, notes: list[Note]) -> list[L]:
    """Return the lines of a page without the notes from `place` on, and add these to `notes`."""
    while place < len(page):
        note_lines = _find_note_lines(page, place, body_size)
        found = list(_split_into_notes(note_lines))
        if found and _mark_note_numbers(page, place, [number for number, _ in found], len(notes)):
            notes += [Note(mark=str(len(notes) + shift), text=text) for shift, (_, text) in enumerate(found, 1)]
            del page[place : place + len(note_lines)]
        else:
            place += 1
    return page


def _find_note_lines(page: Sequence[L], place: int, body_size: float) -> list[L]:
    """Return the lines in smaller type from `place` on; empty unless the first begins with a number."""
    size = page[place].style.size
    if size > _SMALLER * body_size or not _START.match(page[place].text):
        return []
    alike = takewhile(lambda line: abs(line.style.size - size) <= _SAME * body_size, page[place:])
    return list(islice(alike, _MAX_LINES))


def _split_into_notes(run: Sequence[L]) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the notes in consecutive lines; note numbers increase by one."""
    number, texts = 0, list[str]()
    for line in run:
        start = _START.match(line.text)
        if start and (not texts or int(start["number"]) == number + 1):
            if texts:
                yield number, " ".join(texts)
            number, texts = int(start["number"]), [line.text[start.end() :]]
        else:
            texts.append(line.text)
    if texts:
        yield number, " ".join(texts)


def _mark_note_numbers(page: list[L], end: int, numbers: Sequence[int], before: int) -> bool:
    """Replace the note numbers above line `end` by marks; if a number is missing, return False and change nothing."""
    marked, line, column = dict[int, str](), 0, 0
    for shift, number in enumerate(numbers, 1):
        raised = rf"{RAISED}{number}{ON_LINE}"
        printed_number = re.compile(rf"{raised}|(?:(?<=[^\W\d_A-Z]{{3}})|(?<=[.,;:)\]”\"’»?!])){number}(?![\d]|[.,]\d)")
        while line < end:
            text = marked.get(line, page[line].text)
            if match := printed_number.search(text, column):
                mark = f"[^{before + shift}]"
                marked[line] = text[: match.start()] + mark + text[match.end() :]
                column = match.start() + len(mark)
                break
            line, column = line + 1, 0
        else:
            return False
    for number, text in marked.items():
        page[number] = page[number]._replace(text=text)
    return True
