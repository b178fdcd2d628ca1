"""Recognise reference lists by the shape of their entries."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile

from assayer.reference_lists.entry_shape import (
    begins_with_names,
    entry_number,
    has_year_or_link,
    is_prose,
    is_published,
    reads_like_entry,
    strip_mark,
)
from assayer.reference_lists.entry_splitting import split_entries
from assayer.reference_lists.list_end import find_end_of_entries
from assayer.reference_lists.list_lines import ENDED, ROW, ListLine, ListSpan, begins_table, split_lines
from assayer.reference_lists.list_tables import convert_table_rows
from assayer.reference_lists.title_first import parse_title_first

_MIN_ENTRIES = 3
"""Minimum number of entries in a list without a heading."""
_MIN_DATED_SHARE = 0.7
"""Minimum share of entries with a year or an identifier in a list without a heading."""
_MIN_NAMED_SHARE = 0.6
"""Minimum share of entries with names at their beginning or after their title, and of entries that say where they
appeared, in a list without a heading."""
_MAX_ENTRY_CHARS = 900
_MAX_LINES = 6
"""Maximum lines of an entry in a list without a heading."""
_MAX_LAST_LINES = 60
"""Maximum lines after the beginning of the last entry in which its end is looked for."""
_MARKUP = re.compile(r"\*{1,3}|\[(?P<words>[^\[\]]{1,400})\]\([^()\s]{1,400}\)")
_MIN_WORK_CHARS = 25
"""Minimum characters of an entry; rows of tables are shorter."""
_MAX_TITLE_CHARS, _MAX_TITLE_WORDS = 60, 8
_HEADING_MARK = re.compile(r"\s{0,3}#{1,6}\s|\s*(?:\*\*|__)\S")
_SENTENCE_MARK = re.compile(r"[.,;:!?]$")
_BARE = re.compile(r"^[\s#*_]+|[\s#*_:]+$")


def find_untitled_list(text: str) -> ListSpan | None:
    """Return the list of a text in which no title of a list was recognised; None if there is none. The list begins with
    the heading above it if nothing else is below that heading."""
    lines = list(split_lines(text))
    runs = _find_named_runs(lines)
    run = _find_numbered_run(lines) or max(runs, key=lambda run: run[1] - run[0], default=None) or _find_table(lines)
    if run is None:
        return None
    first, last = run
    above = (
        takewhile(lambda line: ROW.match(line.text), reversed(lines[:first])) if ROW.match(lines[first].text) else ()
    )
    first -= sum(1 for _ in above)  # the names of a table's columns
    inner, end = lines[first].start, lines[last + 1].start if last + 1 < len(lines) else len(text)
    is_titled = first > 1 and _is_heading(lines[first - 1]) and _ends_section(lines, last)
    return ListSpan(lines[first - 1].start if is_titled else inner, inner, end)


def holds_works(listed: str) -> bool:
    """Return whether most entries below a title such as `Sources` describe works. Other sections have such titles
    too."""
    entries = [entry.text for entry in split_entries(listed[: find_end_of_entries(listed)])]
    works = [
        len(entry) >= _MIN_WORK_CHARS
        and has_year_or_link(entry)
        and not is_prose(entry)
        and (_has_names(entry) or is_published(entry))
        for entry in entries
    ]
    return bool(works) and sum(works) >= _MIN_NAMED_SHARE * len(works)


def _is_heading(line: ListLine) -> bool:
    """Return whether a line has a mark of a heading, or is a short line that stands alone and is no sentence."""
    title = _BARE.sub("", line.text)
    is_short = len(title) <= _MAX_TITLE_CHARS and 0 < len(title.split()) <= _MAX_TITLE_WORDS
    if not is_short or _SENTENCE_MARK.search(title) or (entry_number(line.text) and has_year_or_link(title)):
        return False
    return _HEADING_MARK.match(line.text) is not None or (line.after_blank and not line.text.rstrip().endswith(":"))


def _ends_section(lines: Sequence[ListLine], last: int) -> bool:
    """Return whether the section with the line `last` ends there."""
    return last + 1 >= len(lines) or _is_heading(lines[last + 1])


def _find_numbered_run(lines: Sequence[ListLine]) -> tuple[int, int] | None:
    """Return the first and last lines of the last run of entries that are numbered from 1."""
    starts: list[int] = []
    best: tuple[int, int] | None = None
    for place, line in enumerate([*lines, ListLine(0, "", True, True)]):
        mark = entry_number(line.text)
        number = mark[1] if mark else None
        if number == len(starts) + 1 and number is not None:
            starts.append(place)
        elif number == 1 or place == len(lines):
            best = _entry_range(starts, lines, place) or best
            starts = [place] if number == 1 else []
    return best


def _find_table(lines: Sequence[ListLine]) -> tuple[int, int] | None:
    """Return the first and last lines of the last table whose rows are entries."""
    best: tuple[int, int] | None = None
    for is_row, places in groupby(range(len(lines)), lambda place: ROW.match(lines[place].text) is not None):
        if is_row:
            table = list(places)
            first, last = table[0], table[-1]
            texts = convert_table_rows([line.text for line in lines[first : last + 1]])
            rows = [ListLine(0, text, True, True) for text in texts]
            best = (first, last) if _entry_range(range(len(rows)), rows, len(rows)) else best
    return best


def _find_named_runs(lines: Sequence[ListLine]) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of runs of entries that each begin with names below the end of another, or with a
    bullet before a title and names."""
    run: list[int] = []
    for place, line in enumerate(lines):
        apart = line.after_blank or ENDED.search(lines[place - 1].text)
        whole = " ".join(item.text for item in lines[place : place + 3])
        entry = _plain(line.text)
        if (apart and (begins_with_names(entry) or reads_like_entry(whole))) or (
            strip_mark(line.text) != line.text and parse_title_first(entry)
        ):
            run.append(place)
        elif run and (place - run[-1] > _MAX_LINES or begins_table(line) or (line.after_blank and is_prose(line.text))):
            yield from filter(None, [_entry_range(run, lines, len(lines))])
            run = []
    yield from filter(None, [_entry_range(run, lines, len(lines))])


def _entry_range(starts: Sequence[int], lines: Sequence[ListLine], stop: int) -> tuple[int, int] | None:
    """Return the first and last line of the entries that begin at these lines, of which the last ends before line
    `stop`; None unless most of them have dates, have names, and say where they appeared. Steps of a plan and items of a
    budget have dates too."""
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
    named = sum(map(_has_names, entries))
    published = sum(map(is_published, entries))
    enough = dated >= _MIN_DATED_SHARE * len(entries) and min(named, published) >= _MIN_NAMED_SHARE * len(entries)
    return (starts[0], ends[len(entries) - 1] - 1) if enough else None


def _has_names(entry: str) -> bool:
    """Return whether an entry begins with names, or with its title and names."""
    plain = _plain(" ".join(entry.split()))
    return begins_with_names(plain) or reads_like_entry(plain) or parse_title_first(plain) is not None


def _plain(entry: str) -> str:
    """Return an entry without its mark and the marks of Markdown."""
    return _MARKUP.sub(lambda match: match["words"] or "", strip_mark(entry))
