"""Find the reference lists in a text by their headings or, for lists without a heading, by the shape of their
entries."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assayer.reference_lists.entry_shape import begins_entry, entry_number, has_year_or_link, reads_like_entry
from assayer.reference_lists.list_end import ABOUT_AUTHORS, find_end_of_entries, may_follow_list
from assayer.reference_lists.list_lines import ENDED, ROW, ListLine, ListSpan, begins_table, split_lines, strip_fences
from assayer.reference_lists.list_shape import find_untitled_list, holds_works
from assayer.reference_lists.list_titles import ListTitle, is_division, list_title
from assayer.text.headings import Heading, find_headings
from assayer.text.section_titles import is_known_title, number_of, part_of, strip_number

_MARKDOWN_LEVELS = 6
_PLAIN = 7
"""Level assigned to a heading without a Markdown mark."""
_HASHES = re.compile(r"^ {0,3}(#{1,6})\s")
_LETTERED = re.compile(r"[A-H](?:[.:)] |(?:\.\d{1,2}){1,3}\.?\s[A-Z])")
_TITLE_ALONE = re.compile(r"^[^\W\d_][^\d.,;:@/\[\]()。，、；：．（）「」『』]{2,60}:?$")
"""Pattern for a short line without the punctuation of an entry."""
_TITLE_WORDS = 7
_MAX_LINES = 6
"""Maximum lines of an entry."""
_SHOWN_LINES = 40
"""Number of lines below a title that show whether it is that of a list."""
_MAX_END_CHARS = 40
"""Number of characters in which the end of an entry is looked for."""


class _Title(NamedTuple):
    text: str
    level: int
    """Level of the heading: 1 to 6 with a Markdown mark, otherwise 7."""
    inner: int
    """Offset of the text below it."""


def find_lists(text: str, *, titled: bool = False) -> list[ListSpan]:
    """Return the reference lists in a text, in order. Lists without a heading are searched for only if no list with a
    heading is found, and not at all if `titled`."""
    lines = list(split_lines(text))
    untitled = None if titled else find_untitled_list
    spans = list(_find_titled_lists(text, lines)) or [span for span in [untitled and untitled(text)] if span]
    return [span._replace(end=span.inner + find_end_of_entries(text[span.inner : span.end])) for span in spans]


def _find_titled_lists(text: str, lines: Sequence[ListLine]) -> Iterator[ListSpan]:
    headings_by_start, position = {heading.start: heading for heading in find_headings(text)}, 0
    for place, line in enumerate(lines):
        certainty = list_title(line.text) if line.start >= position and not _is_row(lines, place) else None
        if place + 1 == len(lines):
            if certainty == "certain":
                yield ListSpan(line.start, len(text), len(text))
            return
        if certainty is None or (list_title(lines[place + 1].text) and not _is_row(lines, place + 1)):
            continue
        hashes = _HASHES.match(line.text)
        if not _opens_list(certainty, bool(hashes), lines[place + 1 : place + _SHOWN_LINES]):
            continue
        underline = re.fullmatch(r"\s*(?:=+|-{3,})\s*", lines[place + 1].text)
        level = len(hashes[1]) if hashes else (2 if underline else _PLAIN)
        inner = (lines[place + 1] if underline else line).end
        own = _Title(line.text, level, inner)
        shown_lines = range(place + 1, min(place + _SHOWN_LINES, len(lines)))
        if certainty == "possible" and not holds_works(
            text[inner : _find_list_end(own, headings_by_start, lines, shown_lines, text)]
        ):
            continue
        end = _find_list_end(own, headings_by_start, lines, range(place + 1, len(lines)), text)
        yield ListSpan(line.start, min(inner + 1, len(text)), end)
        position = end


def _is_row(lines: Sequence[ListLine], place: int) -> bool:
    """Return whether a line is a row of a table with more rows."""
    return all(ROW.match(line.text) for line in lines[place : place + 2])


def _opens_list(certainty: ListTitle, is_marked: bool, following: Sequence[ListLine]) -> bool:
    """Return whether a line that reads like the title of a list is followed by entries. A certain title with a Markdown
    mark needs no entries, because its section may also contain prose about the works."""
    if certainty == "certain" and is_marked:
        return True
    shown = [text for line in following if (text := strip_fences(line.text).strip())][:12]
    return any(begins_entry(line) for line in shown[:2]) or has_year_or_link(" ".join(shown[:3]))


def _find_list_end(
    own: _Title, headings_by_start: Mapping[int, Heading], lines: Sequence[ListLine], places: range, text: str
) -> int:
    """Return where the list under the title `own` ends: at a heading of the same or an outer level, one with the next
    number, or one also in capitals; at a known title, at a table or figure below it, at a short line that stands alone,
    or at the last of the lines at `places`. An entry may look like a heading, a list may have parts, and it may itself
    be a table."""
    level, inner = own.level, own.inner
    outer = min(level, _MARKDOWN_LEVELS)
    is_table: bool | None = None
    number: tuple[str, int] | None = None
    for place in places:
        line = lines[place]
        above, number = number, entry_number(line.text) or number
        if is_table is None and line.start > inner:
            is_table = ROW.match(line.text) is not None
        if is_table and ROW.match(line.text):
            continue
        if is_table is False and begins_table(line):
            return line.start
        end_above = text[max(0, line.start - _MAX_END_CHARS) : line.start]
        is_title = _is_following_title(own.text, line.text) and ENDED.search(end_above)
        if line.start > inner and (is_title or ABOUT_AUTHORS.match(line.text)):
            return line.start
        heading = headings_by_start.get(line.start)
        if line.start <= inner or not (heading or line.stands_alone):
            continue
        title = line.text.strip().strip("#*_ ").strip()
        if reads_like_entry(title) or list_title(title) == "possible":
            continue
        if is_division(line.text) and any(begins_entry(item.text) for item in lines[place + 1 : place + 3]):
            continue
        follows = may_follow_list(title) or _LETTERED.match(title) is not None
        known = is_known_title(strip_number(title)) or part_of(title) is not None or follows
        if not known and above and number == (above[0], above[1] + 1):
            continue  # a numbered entry that looks like a heading
        if heading and (heading.level <= outer or (known and line.stands_alone and heading.level >= level)):
            return line.start
        if (
            not known
            and number
            and (number[0], number[1] + 1)
            in (entry_number(item.text) for item in lines[place + 1 : place + _MAX_LINES])
        ):
            continue  # a line of an entry, such as its authors
        short = bool(_TITLE_ALONE.match(title)) and len(title.split()) <= _TITLE_WORDS
        if line.stands_alone and not title[:1].islower() and short and (known or level > _MARKDOWN_LEVELS):
            return line.start
    return len(text) if places.stop == len(lines) else lines[places.stop].start


def _is_following_title(own: str, line: str) -> bool:
    """Return whether a line is a short title that is numbered after the list's title, or set in capitals like it."""
    title = strip_number(line)
    if not _TITLE_ALONE.match(title) or len(title.split()) > _TITLE_WORDS or reads_like_entry(title):
        return False
    numbers = [[int(part) for part in re.findall(r"\d+", number_of(item))] for item in (own, line)]
    before = [[*numbers[1][:-1], numbers[1][-1] - 1] for _ in numbers[1][-1:]]
    if numbers[0] and any(numbers[0][: len(number)] == number for number in before):
        return True
    return own.isupper() and line.isupper() and not numbers[1]
