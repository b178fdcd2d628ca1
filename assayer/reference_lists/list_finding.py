"""Find the reference lists in a text by their headings or, for lists without a heading, by the shape of their
entries."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from assayer.reference_lists.entry_shape import (
    begins_entry,
    begins_with_names,
    entry_number,
    has_year_or_link,
    is_prose,
    is_published,
    is_record,
    reads_like_entry,
    strip_mark,
)
from assayer.reference_lists.list_titles import ListTitle, is_division, list_title
from assayer.text.headings import Heading, find_headings
from assayer.text.section_titles import is_known_title, number_of, part_of, strip_number

_MARKDOWN_LEVELS = 6
_PLAIN = 7
"""Level assigned to a heading without a Markdown mark."""
_MIN_ENTRIES = 3
"""Minimum number of entries in a list without a heading."""
_MIN_DATED_SHARE = 0.7
"""Minimum share of entries with a year or an identifier in a list without a heading."""
_MIN_NAMED_SHARE = 0.6
"""Minimum share of entries that begin with names, and that say where they appeared, in a list without a heading."""
_MAX_ENTRY_CHARS = 900
_MAX_TITLE_CHARS = 60
"""Maximum characters of a line that is the title of a section below a list."""
_MIN_ENTRY_CHARS, _AHEAD = 45, 300
"""Minimum characters of an entry before prose, and number of characters that show whether prose follows."""
_MAX_LINES = 6
"""Maximum lines of an entry in a list without a heading."""
_MAX_LAST_LINES = 60
"""Maximum lines after the beginning of the last entry in which its end is looked for."""
_HASHES = re.compile(r"^ {0,3}(#{1,6})\s")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~|:::)")
FOLLOWS = re.compile(
    r"(?:appendi(?:x|ces)|annex(?:es|e)?|anhang|anexos?|ap[eé]ndices?|allegat[oi]|lampiran|приложени[ея]|supplement|"
    r"(?:list|index) of (?:figures|tables)|(?:author )?biograph(?:y|ies))",
    re.IGNORECASE,
)
"""Beginning of the title of a section that may follow a reference list."""
_LETTERED = re.compile(r"[A-H](?:[.:)] |(?:\.\d{1,2}){1,3}\.?\s[A-Z])")
_LETTER = re.compile(r"^[A-H]\.?\s")
_TITLE_ALONE = re.compile(r"^[^\W\d_][^\d.,;:@/\[\]()]{2,60}:?$")
"""Pattern for a short line without the punctuation of an entry."""
_TITLE_WORDS = 7
_ABOUT_AUTHORS = re.compile(
    r"\s*(?:affiliations?|correspondence|corresponding authors?|about the authors?):?\s*$", re.I
)
_ENDED = re.compile(r"[.)\]\d»”\"’>/]\s*\Z")
_ROW = re.compile(r"\s*\|.*\|\s*$|(?:[^|\n]* \| ){1,40}[^|\n]*$|(?:[^\t\n]*\t){2,40}[^\t\n]*$")
"""Row of a table: cells separated by bars or tabs."""
_CAPTION = re.compile(
    r"\W{0,4}(?:table|tabelle|tableau|tabla|tabela|tabella|tabel|tabell|таблица|figure|fig\.|abbildung|abb\.|figura)"
    r"\s{1,2}(?:[A-Z]?\.?\d{1,3}|[IVX]{1,5})\s?(?:[.:|–—]|$|\*\*)|[表图圖図]\s?\d{1,3}",
    re.IGNORECASE,
)
"""Caption of a table or figure."""
_AXIS = re.compile(r"\s*(?:[\d.,%−-]{1,12}\s+){3,40}[\d.,%−-]{1,12}\s*$")
"""Line of numbers only: the labels of an axis, or a row of a table without borders."""


class ListSpan(NamedTuple):
    """Half-open range of a reference list in a text."""

    start: int
    """Offset of the list's heading or, if it has none, of its first entry."""
    inner: int
    """Offset of the list's first entry."""
    end: int


class _Line(NamedTuple):
    start: int
    text: str
    after_blank: bool
    stands_alone: bool
    """True if there are blank lines above and below."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def find_lists(text: str, *, titled: bool = False) -> list[ListSpan]:
    """Return the reference lists in a text, in order. Lists without a heading are searched for only if no list with a
    heading is found, and not at all if `titled`."""
    lines = list(_split_lines(text))
    spans = list(_find_titled_lists(text, lines)) or ([] if titled else list(_find_untitled_list(text, lines)))
    return [span._replace(end=span.inner + find_end_of_entries(text[span.inner : span.end])) for span in spans]


def find_untitled_list(text: str) -> ListSpan | None:
    """Return the list of a text in which no title of a list was recognised; None if there is none."""
    return next(_find_untitled_list(text, list(_split_lines(text))), None)


def find_end_of_entries(listed: str) -> int:
    """Return where the last entry of a list ends. Prose without a heading may follow the list."""
    lines = list(_split_lines(listed))
    ahead = [" ".join(item.text[:_AHEAD] for item in lines[place : place + 8])[:_AHEAD] for place in range(len(lines))]
    for place, line in enumerate(lines):
        # An appendix cites works too.
        follows = line.stands_alone and len(line.text) <= _MAX_TITLE_CHARS and _may_follow_list(line.text.strip())
        if follows or _ABOUT_AUTHORS.match(line.text):
            earlier = zip(lines[:place], ahead, strict=False)
            if (
                len(list(islice((1 for it, shown in earlier if _begins_dated_entry(it.text, shown)), _MIN_ENTRIES)))
                == _MIN_ENTRIES
            ):
                return line.start
            break
    last = next(
        (place for place in reversed(range(len(lines))) if _begins_dated_entry(lines[place].text, ahead[place])), 0
    )
    length, dated = 0, False
    for above, line, shown in zip(lines[last:], lines[last + 1 :], ahead[last + 1 :], strict=False):
        length, dated = length + len(above.text), dated or has_year_or_link(above.text)
        is_title = len(line.text) <= _MAX_TITLE_CHARS and _may_follow_list(line.text.strip())
        prose = line.text.strip()[:1].isupper() and is_prose(shown)
        is_complete = dated and length >= _MIN_ENTRY_CHARS and _ENDED.search(above.text)
        if is_complete and (prose or is_title or _CAPTION.match(line.text) or _AXIS.match(line.text)):
            return line.start
    return len(listed)


def _may_follow_list(title: str) -> bool:
    """Return whether a title is that of a section that may follow a list, also with a letter: `A Appendix`."""
    return FOLLOWS.match(_LETTER.sub("", title, count=1)) is not None


def _begins_dated_entry(line: str, ahead: str) -> bool:
    """Return whether a line begins an entry with a date, or a record, whose abstract is part of it."""
    return is_record(line) or (begins_entry(line) and has_year_or_link(ahead) and not is_prose(line[:_AHEAD]))


def _split_lines(text: str) -> Iterator[_Line]:
    lines, offset = text.split("\n"), 0
    for number, line in enumerate(lines):
        if line.strip():
            after_blank = number == 0 or not lines[number - 1].strip()
            before_blank = number + 1 == len(lines) or not lines[number + 1].strip()
            yield _Line(offset, line, after_blank, after_blank and before_blank)
        offset += len(line) + 1


def _find_titled_lists(text: str, lines: Sequence[_Line]) -> Iterator[ListSpan]:
    headings_by_start, position = {heading.start: heading for heading in find_headings(text)}, 0
    for place, line in enumerate(lines):
        certainty = list_title(line.text) if line.start >= position else None
        if place + 1 == len(lines):
            if certainty == "certain":
                yield ListSpan(line.start, len(text), len(text))
            return
        following = lines[place + 1 : place + 40]
        if certainty is None or list_title(following[0].text) is not None:
            continue
        hashes = _HASHES.match(line.text)
        if not _opens_list(certainty, bool(hashes), following):
            continue
        underline = re.fullmatch(r"\s*(?:=+|-{3,})\s*", following[0].text)
        level = len(hashes[1]) if hashes else (2 if underline else _PLAIN)
        inner = (following[0] if underline else line).end
        end = _find_list_end(line.text, level, headings_by_start, islice(lines, place + 1, None), inner, text)
        yield ListSpan(line.start, min(inner + 1, len(text)), end)
        position = end


def _opens_list(certainty: ListTitle, is_marked: bool, following: Sequence[_Line]) -> bool:
    """Return whether a line that reads like the title of a list is followed by entries. A certain title with a Markdown
    mark needs no entries, because its section may also contain prose about the works."""
    if certainty == "certain" and is_marked:
        return True
    shown = [line.text for line in following if not _FENCE.match(line.text)][:12]
    return any(begins_entry(line) for line in shown[:2]) or has_year_or_link(" ".join(shown[:3]))


def _find_list_end(
    own: str,
    level: int,
    headings_by_start: Mapping[int, Heading],
    following: Iterable[_Line],
    inner: int,
    text: str,
) -> int:
    """Return where the list under the heading `own` of this level ends: at a heading of the same or an outer level, one
    with the next number, or one also in capitals; at a known title, at a table or figure below it, or at a short line
    that stands alone. An entry may look like a heading, a list may have parts, and it may itself be a table."""
    outer = min(level, _MARKDOWN_LEVELS)
    is_table: bool | None = None
    lines = list(following)
    number: tuple[str, int] | None = None
    for place, line in enumerate(lines):
        above, number = number, entry_number(line.text) or number
        if is_table is None and line.start > inner:
            is_table = _ROW.match(line.text) is not None
        if is_table is False and _begins_table(line):
            return line.start
        if line.start > inner and _ABOUT_AUTHORS.match(line.text):
            return line.start
        if line.start > inner and _is_following_title(own, line.text) and _ENDED.search(text, 0, line.start):
            return line.start
        heading = headings_by_start.get(line.start)
        if line.start <= inner or not (heading or line.stands_alone):
            continue
        title = line.text.strip().strip("#*_ ").strip()
        if reads_like_entry(title) or list_title(title) == "possible":
            continue
        if is_division(line.text) and any(begins_entry(item.text) for item in lines[place + 1 : place + 3]):
            continue
        follows = _may_follow_list(title) or _LETTERED.match(title) is not None
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
        if line.stands_alone and title[:1].isupper() and short and (known or level > _MARKDOWN_LEVELS):
            return line.start
    return len(text)


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


def _begins_table(line: _Line) -> bool:
    """Return whether a line is a row of a table that holds no entry, or begins with the caption of a table."""
    is_row = _ROW.match(line.text) is not None and not reads_like_entry(line.text) and entry_number(line.text) is None
    return is_row or (line.after_blank and _CAPTION.match(line.text) is not None)


def _find_untitled_list(text: str, lines: Sequence[_Line]) -> Iterator[ListSpan]:
    """Yield the last run of entries that are numbered from 1, or the longest run that each begin with names."""
    run = _find_numbered_run(lines) or max(_find_named_runs(lines), key=lambda run: run[1] - run[0], default=None)
    if run:
        first, last = run
        end = lines[last + 1].start if last + 1 < len(lines) else len(text)
        yield ListSpan(lines[first].start, lines[first].start, end)


def _find_numbered_run(lines: Sequence[_Line]) -> tuple[int, int] | None:
    starts: list[int] = []
    best: tuple[int, int] | None = None
    for place, line in enumerate([*lines, _Line(0, "", True, True)]):
        mark = entry_number(line.text)
        number = mark[1] if mark else None
        if number == len(starts) + 1 and number is not None:
            starts.append(place)
        elif number == 1 or place == len(lines):
            best = _entry_range(starts, lines, place) or best
            starts = [place] if number == 1 else []
    return best


def _find_named_runs(lines: Sequence[_Line]) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of runs of entries that each begin with names below the end of another."""
    run: list[int] = []
    for place, line in enumerate(lines):
        apart = line.after_blank or _ENDED.search(lines[place - 1].text)
        whole = " ".join(item.text for item in lines[place : place + 3])
        if apart and (begins_with_names(strip_mark(line.text)) or reads_like_entry(whole)):
            run.append(place)
        elif run and (
            place - run[-1] > _MAX_LINES or _begins_table(line) or (line.after_blank and is_prose(line.text))
        ):
            yield from filter(None, [_entry_range(run, lines, len(lines))])
            run = []
    yield from filter(None, [_entry_range(run, lines, len(lines))])


def _entry_range(starts: Sequence[int], lines: Sequence[_Line], stop: int) -> tuple[int, int] | None:
    """Return the first and last line of the entries that begin at these lines, of which the last ends before line
    `stop`; None unless most of them have dates, begin with names, and say where they appeared. Steps of a plan and
    items of a budget have dates too."""
    if len(starts) < _MIN_ENTRIES:
        return None
    rest = range(starts[-1] + 1, min(starts[-1] + _MAX_LAST_LINES, stop))
    ends = [*starts[1:], next((place for place in rest if lines[place].after_blank), rest.stop)]
    entries = ["\n".join(line.text for line in lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    entries[-1:] = [entry[: find_end_of_entries(entry)] for entry in entries[-1:]]
    while entries and not has_year_or_link(entries[-1]):
        entries.pop()
    if len(entries) < _MIN_ENTRIES:
        return None
    dated = sum(has_year_or_link(entry) and len(entry) <= _MAX_ENTRY_CHARS and not is_prose(entry) for entry in entries)
    named = sum(begins_with_names(strip_mark(entry)) or reads_like_entry(entry) for entry in entries)
    published = sum(map(is_published, entries))
    enough = dated >= _MIN_DATED_SHARE * len(entries) and min(named, published) >= _MIN_NAMED_SHARE * len(entries)
    return (starts[0], ends[len(entries) - 1] - 1) if enough else None
