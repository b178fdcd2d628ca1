"""Headers, footers and numbers of pages in a text that was copied from pages, which may stand inside an entry."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_MASK = "\f"
"""Character that replaces each character of such a line, so that offsets stay the same."""
_OF = r"(?:\s?(?:of|von|de|di|van|из|/|\|)\s?\d{1,3})?"
_NUMBER = re.compile(rf"\s*[-–—|]?\s?(?P<number>\d{{1,3}}){_OF}\s?[-–—|]?\s*$")
_PAGE = re.compile(
    rf"(?:.{{0,90}}\W)?\s*(?:page|seite|pagina|página|pág\.|p\.|стр\.|страница|strana|str\.|sivu|side)\s?"
    rf"(?P<number>\d{{1,3}}){_OF}\s*$",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\s*(?:(?P<before>\d{1,3})\s{3,}\S.{2,80}|\S.{2,80}?\s{3,}(?P<after>\d{1,3}))\s*$")
_DIGITS = re.compile(r"\d+")
_MAX_CHARS = 120
_MIN_LINES_OF_PAGE, _MAX_STEP = 5, 2
"""Minimum distance in lines of two page numbers, and maximum difference of the numbers."""
_MIN_TITLE_CHARS, _MIN_LINE_CHARS = 12, 30
"""Minimum characters of the title of a text that is recognised in a header, and of a line of running text."""
_BREAK = re.compile(rf"\n*{_MASK}[{_MASK} \t\n]*")
_ENDED = re.compile(r"[.)\]\d»”\"’>/]\s*$")


class _PageNumber(NamedTuple):
    place: int
    number: int
    is_alone: bool
    """True if no other line stands directly above or below."""
    is_certain: bool
    """True if a word such as `page` is beside the number, or if it stands inside a sentence."""


def mask_page_lines(text: str) -> str:
    """Return the text with form feeds in place of lines that are headers, footers or page numbers."""
    lines = text.split("\n")
    numbers = list(_find_page_numbers(lines))
    near = {place for pair in pairwise(numbers) if _are_near(*pair) for place in (pair[0].place, pair[1].place)}
    places = {item.place for item in numbers if (item.is_alone and len(numbers) > 1) or item.is_certain} - near
    for first, second in pairwise(numbers):
        if 0 < second.number - first.number <= _MAX_STEP and not _are_near(first, second):
            places |= {first.place, second.place}
    edges = [near for place in places for near in _neighbours(lines, place)]
    edges += [place for place, line in enumerate(lines) if line.startswith("\f") and line.strip()]
    title = next((line.strip(" #*") for line in lines if line.strip()), "")
    places |= {near for near in edges if len(title) >= _MIN_TITLE_CHARS and title in lines[near]}
    occurrences = Counter(_mask_digits(lines[place]) for place in dict.fromkeys(edges))
    places |= {place for place in edges if occurrences[_mask_digits(lines[place])] > 1}
    if not places:
        return text
    return "\n".join(_MASK * len(line) if place in places else line for place, line in enumerate(lines))


def join_across_page_breaks(reference_text: str) -> str:
    """Return a reference list without its masked lines. An entry continues on the next page if its last line does not
    end like an entry, or if the next line begins in lower case."""

    def choose_separator(match: re.Match[str]) -> str:
        above, below = reference_text[: match.start()][-_MAX_CHARS:], reference_text[match.end() : match.end() + 1]
        separator = "\n\n" if "\n\n" in reference_text and _ENDED.search(above) and not below.islower() else "\n"
        indent = match[0].rpartition("\n")[2]
        return separator + ("" if _MASK in indent else indent)

    return _BREAK.sub(choose_separator, reference_text)


def _find_page_numbers(lines: Sequence[str]) -> Iterator[_PageNumber]:
    for place, line in enumerate(lines):
        plain = line.strip()
        if not plain or len(plain) > _MAX_CHARS or not _DIGITS.search(plain):
            continue
        match = _NUMBER.match(plain) or _PAGE.match(plain) or _BESIDE.match(plain)
        if match:
            number = next(number for number in match.groups() if number)
            is_alone = all(
                not near.strip() for near in (*lines[max(0, place - 1) : place], *lines[place + 1 : place + 2])
            )
            above = next((near for near in reversed(lines[max(0, place - _MAX_STEP) : place]) if near.strip()), "")
            is_inside = len(above) >= _MIN_LINE_CHARS and not _ENDED.search(above)
            is_certain = is_alone and (match.re is _PAGE or (match.re is _NUMBER and is_inside))
            yield _PageNumber(place, int(number), is_alone or line[0] == "\f", is_certain)


def _are_near(first: _PageNumber, second: _PageNumber) -> bool:
    """Return whether two numbers are too near to be those of pages; entries may have such numbers."""
    return second.place - first.place < _MIN_LINES_OF_PAGE


def _neighbours(lines: Sequence[str], place: int) -> Iterator[int]:
    """Yield the nearest lines with text above and below a line, unless further text directly follows them."""
    for step in (-1, 1):
        near = place + step
        while 0 <= near < len(lines) and abs(near - place) <= _MAX_STEP and not lines[near].strip():
            near += step
        is_edge = not 0 <= near + step < len(lines) or not lines[near + step].strip()
        if 0 <= near < len(lines) and is_edge and 0 < len(lines[near].strip()) <= _MAX_CHARS:
            yield near


def _mask_digits(line: str) -> str:
    return _DIGITS.sub("#", line.strip())
