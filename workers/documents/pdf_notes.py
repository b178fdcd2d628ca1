"""Footnotes of a PDF: lines in smaller type that begin with a number to which the text above them refers."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, takewhile
from typing import Protocol, TypeVar

from assayer.models import Note
from assayer.reference_lists.list_titles import list_title
from assayer.text.raised_text import ON_LINE, RAISED

_NOTE_START = re.compile(r"(?P<number>\d{1,3}) ?(?=[^\W\d_]|[\"“‘(])")
_MAX_RELATIVE_SIZE = 0.93
"""Maximum size of a note's type, as a share of the size of the body text."""
_SIZE_TOLERANCE = 0.06
_MAX_NOTE_LINES = 30


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


def separate_notes(lines: Sequence[L], body_size: float) -> tuple[list[L], list[Note]]:
    """Return the lines without footnotes, with each mark written as `[^mark]`, and the footnotes. Below the title of a
    reference list, only lines in smaller type than the list, on the same page, count as footnotes."""
    end = next((index for index, line in enumerate(lines) if list_title(line.text) == "certain"), len(lines))
    text_lines: list[L] = []
    notes: list[Note] = []
    for page, page_lines in groupby(lines[:end], lambda line: line.page):
        above = _separate_page_notes(list(page_lines), 0, body_size, notes)
        text_lines += above
        if end < len(lines) and page == lines[end].page:
            below = list(takewhile(lambda line: line.page == lines[end].page, lines[end:]))
            list_size = min([body_size, *(line.style.size for line in below[1:2])])
            text_lines[-len(above) :] = _separate_page_notes([*above, *below], len(above), list_size, notes)
            return [*text_lines, *lines[end + len(below) :]], notes
    return [*text_lines, *lines[end:]], notes


def _separate_page_notes(page: list[L], index: int, body_size: float, notes: list[Note]) -> list[L]:
    """Return the lines of a page without the notes from `index` on, and add these to `notes`."""
    while index < len(page):
        note_lines = _find_note_lines(page, index, body_size)
        numbered_texts = list(_split_into_notes(note_lines))
        if numbered_texts and _mark_note_numbers(page, index, [number for number, _ in numbered_texts], len(notes)):
            notes += [
                Note(mark=str(len(notes) + shift), text=text) for shift, (_, text) in enumerate(numbered_texts, 1)
            ]
            del page[index : index + len(note_lines)]
        else:
            index += 1
    return page


def _find_note_lines(page: Sequence[L], index: int, body_size: float) -> list[L]:
    """Return the lines in smaller type from `index` on; empty unless the first begins with a number."""
    size = page[index].style.size
    if size > _MAX_RELATIVE_SIZE * body_size or not _NOTE_START.match(page[index].text):
        return []
    same_size_lines = takewhile(lambda line: abs(line.style.size - size) <= _SIZE_TOLERANCE * body_size, page[index:])
    return list(islice(same_size_lines, _MAX_NOTE_LINES))


def _split_into_notes(run: Sequence[L]) -> Iterator[tuple[int, str]]:
    """Yield the note_numbers and texts of the notes in consecutive lines; note note_numbers increase by one."""
    number, texts = 0, list[str]()
    for line in run:
        start = _NOTE_START.match(line.text)
        if start and (not texts or int(start["number"]) == number + 1):
            if texts:
                yield number, " ".join(texts)
            number, texts = int(start["number"]), [line.text[start.end() :]]
        else:
            texts.append(line.text)
    if texts:
        yield number, " ".join(texts)


def _mark_note_numbers(page: list[L], end: int, note_numbers: Sequence[int], earlier_notes: int) -> bool:
    """Replace the numbers of notes above line `end` by marks; if one is missing, return False and change nothing."""
    marked_lines, line, column = dict[int, str](), 0, 0
    for shift, number in enumerate(note_numbers, 1):
        raised_number = rf"{RAISED}{number}{ON_LINE}"
        printed_number = re.compile(
            rf"{raised_number}|(?:(?<=[^\W\d_A-Z]{{3}})|(?<=[.,;:)\]”\"’»?!])){number}(?![\d]|[.,]\d)"
        )
        while line < end:
            text = marked_lines.get(line, page[line].text)
            if match := printed_number.search(text, column):
                mark = f"[^{earlier_notes + shift}]"
                marked_lines[line] = text[: match.start()] + mark + text[match.end() :]
                column = match.start() + len(mark)
                break
            line, column = line + 1, 0
        else:
            return False
    for number, text in marked_lines.items():
        page[number] = page[number]._replace(text=text)
    return True
