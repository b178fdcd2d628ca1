"""Lines of a PDF with their style, and removal of line numbers in the margin, running heads and page numbers."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple


class TextStyle(NamedTuple):
    font: str
    size: float
    """Size in points, after all scaling."""
    bold: bool
    italic: bool
    upright: bool
    """True if the text is horizontal; False for rotated text, such as in the margin."""


class PdfLine(NamedTuple):
    page: int
    style: TextStyle
    uniform: bool
    """True if the first, middle and last letters of the line have the same style."""
    text: str
    left: float = 0.0
    """Left edge of the first letter in points."""


_EDGE_LINES, _MIN_RUNNING_PAGES = 3, 3
"""Number of lines at the top and bottom of a page that may be running heads, and minimum number of pages on which such
a line recurs."""
_OUTERMOST_LINES, _MIN_OUTERMOST_PAGES = 2, 2
"""Number of lines that need to recur on fewer pages, and number of these pages."""
_MIN_HEAD_PAGES = 3
_NUMBERED_HEAD = re.compile(
    r"(?P<left>\d{1,4})[\s|·–-]{1,5}(?P<after>[^\W\d_][^\d]{2,80})|(?P<before>[^\W\d_][^\d]{2,80}?)[\s|·–-]{1,5}(?P<right>\d{1,4})"
)
"""Words and the page number beside them: `Bibliography 97`, `98 Bibliography`."""
_MAX_NUMBER_DIGITS = 4
"""Maximum digits of a page or line number; a longer number may be the end of a DOI."""
_LINE_NUMBER = re.compile(r"(?P<number>\d{1,4})(?:\s+|$)")
_MIN_NUMBERED_LINES, _MAX_STEP, _EVERY_FIFTH = 20, 4, 5
"""Minimum number of lines with rising numbers in the margin, and maximum difference between two of them."""
_NUMBERED_LINES_SHARE, _NUMBERED_PAGES_SHARE, _MIN_NUMBERED_PAGES = 2 / 3, 0.25, 3
"""Minimum shares of the lines of a page and of the pages that are numbered, and minimum number of such pages."""
_ANY_NUMBER = re.compile(r"\d+")


def build_running_key(line: PdfLine) -> str:
    """Return the line's text with all numbers replaced, so that a running head is the same on all pages."""
    return _ANY_NUMBER.sub("#", line.text)


def remove_line_numbers(lines: Sequence[PdfLine]) -> Sequence[PdfLine]:
    """Remove the numbers that manuscripts for review have in the margin of each line, or of each fifth."""
    marks = [(index, mark) for index, line in enumerate(lines) if (mark := _LINE_NUMBER.match(line.text))]
    fifths = [(index, mark) for index, mark in marks if int(mark["number"]) % _EVERY_FIFTH == 0]
    rising, by_fifths = (
        _select_rising(marks, range(1, _MAX_STEP + 1)),
        _select_rising(fifths, (_EVERY_FIFTH, 2 * _EVERY_FIFTH)),
    )
    step, has_numbered_pages = 1, _has_numbered_pages(lines, rising)
    if len(rising) < _MIN_NUMBERED_LINES or (len(rising) < len(lines) / 2 and not has_numbered_pages):
        rising, step, has_numbered_pages = by_fifths, _EVERY_FIFTH, False
    if len(rising) < _MIN_NUMBERED_LINES or (len(rising) < len(lines) / 4 / step and not has_numbered_pages):
        return lines
    texts = [line.text[rising[index].end() :] if index in rising else line.text for index, line in enumerate(lines)]
    for index, next_index in pairwise(sorted(rising)):
        first, last = (int(rising[item]["number"]) for item in (index, next_index))
        for number in range(first + step, min(last, first + _MAX_STEP * step), step):  # in a word that was joined
            for unnumbered in range(index, min(next_index, index + 2 * step)):
                texts[unnumbered] = re.sub(rf"(?<=[^\W\d_]){number} (?=[^\W\d_A-Z])", "", texts[unnumbered], count=1)
                texts[unnumbered] = re.sub(rf"(?<=[a-z]){number} (?=[A-Z])", "-", texts[unnumbered], count=1)
    return [line._replace(text=text) for line, text in zip(lines, texts, strict=True) if text]


def _select_rising(marks: Sequence[tuple[int, re.Match[str]]], steps: Collection[int]) -> dict[int, re.Match[str]]:
    """Return the marks, by index, whose number exceeds the one before it by one of these steps, and those before."""
    pairs = (pair for pair in pairwise(marks) if int(pair[1][1]["number"]) - int(pair[0][1]["number"]) in steps)
    return {index: mark for pair in pairs for index, mark in pair}


def _has_numbered_pages(lines: Sequence[PdfLine], numbered_lines: Iterable[int]) -> bool:
    """Return whether most lines of many pages have a number; pages with figures or appendices may have none."""
    line_counts = Counter(line.page for line in lines)
    numbered_counts = Counter(lines[index].page for index in numbered_lines)
    pages = sum(numbered_counts[page] >= _NUMBERED_LINES_SHARE * count for page, count in line_counts.items())
    return pages >= max(_MIN_NUMBERED_PAGES, _NUMBERED_PAGES_SHARE * len(line_counts))


def remove_running_lines(lines: Sequence[PdfLine], title: str = "") -> list[PdfLine]:
    """Remove page numbers, rotated text, and lines at the top or bottom of pages that recur or repeat the title."""
    pages = [list(page) for _, page in groupby(lines, lambda line: line.page)]
    # If all pages are the same, so are their texts, which are then no running heads.
    distinct_pages = [*{_build_running_keys(page): page for page in pages}.values()]
    return _remove_running(pages, pages, title) or _remove_running(pages, distinct_pages, title)


def _build_running_keys(page: Iterable[PdfLine]) -> tuple[str, ...]:
    return tuple(build_running_key(line) for line in page)


def _collect_edge_keys(page: Sequence[PdfLine]) -> set[str]:
    return {*_build_running_keys((*page[:_EDGE_LINES], *page[-_EDGE_LINES:]))}


def _collect_outermost_keys(page: Sequence[PdfLine]) -> set[str]:
    return {*_build_running_keys((*page[:_OUTERMOST_LINES], *page[-_OUTERMOST_LINES:]))}


def _remove_running(
    pages: Sequence[Sequence[PdfLine]], counted_pages: Sequence[Sequence[PdfLine]], title: str
) -> list[PdfLine]:
    """Remove page numbers, rotated text, and lines that recur at the edges of a third of the `counted_pages` pages."""
    occurrences = Counter(key for page in counted_pages for key in _collect_edge_keys(page))
    inside = {key for page in counted_pages for key in _build_running_keys(page[_OUTERMOST_LINES:-_OUTERMOST_LINES])}
    outermost = Counter(key for page in counted_pages for key in _collect_outermost_keys(page) - inside)
    running_lines = {
        key
        for key, count in occurrences.items()
        if count >= max(_MIN_RUNNING_PAGES, len(counted_pages) // 3)
        or outermost[key] >= max(_MIN_OUTERMOST_PAGES, len(counted_pages) // 3)
    } | _find_numbered_heads(pages)
    if title:
        title_key = _ANY_NUMBER.sub("#", title)
        running_lines |= {key for page in pages[1:] for key in _collect_outermost_keys(page) if title_key in key}
    return [
        line
        for page, edge in ((page, _collect_edge_keys(page)) for page in pages)
        for line in page
        if line.style.upright
        and not (line.text.isdecimal() and len(line.text) <= _MAX_NUMBER_DIGITS)
        and (build_running_key(line) not in running_lines or build_running_key(line) not in edge)
    ]


def _find_numbered_heads(pages: Sequence[Sequence[PdfLine]]) -> set[str]:
    """Return the keys of the heads of chapters: words beside a page number, on pages that it numbers."""
    heads_by_page: dict[tuple[str, int], set[str]] = defaultdict(set)
    for page in pages:
        for line in (*page[:1], *page[-1:]):
            if match := _NUMBERED_HEAD.fullmatch(line.text):
                words, number = match["after"] or match["before"], int(match["left"] or match["right"])
                heads_by_page[words, number - line.page].add(f"{line.page} {build_running_key(line)}")
    return {
        item.partition(" ")[2] for found in heads_by_page.values() if len(found) >= _MIN_HEAD_PAGES for item in found
    }
