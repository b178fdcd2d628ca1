"""Split the text of a reference list into its entries, by their marks, their indentation, or the names at their
beginning."""

import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assayer.reference_lists.entry_numbers import join_numbers_alone
from assayer.reference_lists.entry_shape import (
    ITEM_MARK,
    begins_entry,
    begins_with_date,
    begins_with_names,
    entry_number,
    has_year_or_link,
    is_prose,
    reads_like_entry,
    strip_mark,
)
from assayer.reference_lists.list_lines import strip_fences
from assayer.reference_lists.list_tables import convert_table_rows
from assayer.reference_lists.list_titles import is_division
from assayer.reference_lists.run_on_entries import may_end_entry, split_run_on
from assayer.reference_lists.title_first import names_after_title, parse_title_first

_MIN_INLINE = 3
"""Minimum number of numbered entries in running text; fewer are taken as coincidence."""
_PART_TITLE = re.compile(r"[^\W\d_a-z][^\W\d_]{2,20}(?: (?:[^\W\d_]{1,20}|&)){0,4}:?")
"""Title of a part of a list, in any language."""
_MAX_NOTE_LINES = 6
_MIN_PARAGRAPHS = 4
_MIN_DATED_SHARE, _MIN_NAMED_SHARE = 0.5, 0.8
"""Minimum shares of the paragraphs of a list that have dates, and that begin with names."""
_MIN_UNDATED_CHARS = 45
"""Minimum length of an entry without a date; a shorter paragraph is the rest of one, such as `London: Post Press.`"""
_MAX_GAP = 5
"""Maximum difference between the numbers of neighbouring entries, because an entry may have lost its number."""
_MAX_LATE = 20
"""Number of entries in which a lower number is looked for."""
_INLINE = re.compile(r"(?:(?<=\s)|^)(?:\[(?P<bracket>\d{1,3})\]|(?P<dot>\d{1,3})\.)\s*(?=[^\W\d_])")
_INDENTED = re.compile(r"(?: {2,}|\t)\S")
_MARKUP = re.compile(
    r"</?(?:a|b|i|em|strong|span|div|p|li|ul|ol|br|sup|sub|font|section|bibitem)\b[^<>]{0,400}>|\[\]\{[^{}]{0,200}\}"
    r"|\{#[^{}]{0,200}\}|(?<=\])\{\.[^{}]{0,100}\}",
    re.IGNORECASE,
)
"""Anchors and other markup in HTML and from pandoc."""
_COLUMNS = re.compile(
    r"\[(?P<mark>[^\[\]\n]{1,12}|\\?\[\d{1,3}\\?\] ?)\]\{\.csl-left-margin\}\s*\[(?P<entry>(?:[^\n]|\n(?!\n)){1,4000}?)"
    r"\]\{\.csl-right-inline\}"
)
"""Number and entry as pandoc writes them, each in a column of its own."""
_ENDED = re.compile(r"(?:[.)\]\d»”\"’>*_。．]|(?:https?://|www\.)\S{1,400}|10\.\d{4,9}/\S{1,200})\s*$")
_ENDS_IN_ADDRESS = re.compile(r"(?:https?://|10\.\d{4,9}/)\S*\s*$")
_ADDRESS_BELOW = re.compile(r"\n\s*(?=(?:https?://|www\.)\S{1,1000}\s*$)", re.MULTILINE)
_CONTINUES = re.compile(r"(?:[,&:;–-]|\b(?:and|in|of|the|by|to|see|with|for|und|et|y))\s*$", re.IGNORECASE)
"""End of a line whose sentence goes on, unlike that of a row of a table."""
_LOOK_AHEAD = 400
_MIN_DATED = 2
_MIN_TITLED, _MIN_TITLED_SHARE = 3, 0.5
"""Minimum number of entries, and share of them with names after the title, in a list that prints titles first."""
_NO_TITLE = re.compile(r"(?:DOI|PMC?ID|URL|ISBN|ISSN|Available|Retrieved|Accessed|In:?\s|Proc|Vol|https?:|arXiv:)")
_HYPHENATED = re.compile(r"(?<=[^\W\d_A-Z])(?<=\w\w)[-\u2010]\n\s*(?=[^\W\d_A-Z])")
_BROKEN_YEAR = re.compile(r"(?:(?<=（\d)|(?<=（\d\d)|(?<=（\d{3}))\n\s*(?=\d{1,3}）)")
"""Line end inside a year, where a script without spaces is wrapped at a column."""


class PrintedEntry(NamedTuple):
    text: str
    """Entry on one line, without its mark."""
    number: int | None = None


def split_entries(text: str) -> list[PrintedEntry]:
    """Return the entries of a list, in order."""
    text = _COLUMNS.sub(r"\g<mark>\g<entry>", strip_fences(text))
    plain = html.unescape(_MARKUP.sub("", text)).replace("\r", "").replace("\u00a0", " ")
    plain = join_numbers_alone(plain)
    entries = [entry for part in _divide([line.rstrip() for line in plain.split("\n")]) for entry in _split_part(part)]
    joined = (
        entry._replace(text=" ".join(_BROKEN_YEAR.sub("", _HYPHENATED.sub("", entry.text)).split()))
        for entry in entries
    )
    return [entry for entry in joined if entry.text]


def _divide(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the lines of each part of a list, without the titles of the parts. Such a title stands between the end of
    an entry and the beginning of another, which has a number if the first has; a line of an entry may have the same
    words."""
    printed = [place for place, line in enumerate(lines) if line.strip()]
    start, above = 0, ""
    numbered = bool(printed) and entry_number(lines[printed[0]]) is not None
    for place, below in pairwise(printed):
        has_ended = not above or _ENDED.search(above)
        is_apart = has_ended or not lines[place - 1].strip()
        is_title = is_division(lines[place]) or (has_ended and may_end_entry(above) and _stands_alone(lines, place))
        if is_apart and is_title and _begins_part(lines[below], numbered=numbered):
            yield lines[start:place]
            start = place + 1
        above = lines[place]
    yield lines[start:]


def _stands_alone(lines: Sequence[str], place: int) -> bool:
    """Return whether a line is a few words without punctuation between blank lines."""
    around = [*lines[max(0, place - 1) : place], *lines[place + 1 : place + 2]]
    return not "".join(around).strip() and _PART_TITLE.fullmatch(lines[place]) is not None


def _begins_part(line: str, *, numbered: bool) -> bool:
    if numbered or is_division(line):
        return entry_number(line) is not None or is_division(line)
    return (begins_entry(line) or has_year_or_link(line)) and not is_prose(line[:_LOOK_AHEAD])


def _split_part(lines: Sequence[str]) -> list[PrintedEntry]:
    rows = convert_table_rows(lines)
    entries = _split_numbered_lines(rows) or _inline_numbers("\n".join(lines)) or _items(rows) or _paragraphs(rows)
    return entries or [PrintedEntry(entry) for entry in _split_unmarked(rows)]


def _split_numbered_lines(lines: Sequence[str]) -> list[PrintedEntry]:
    """Return the entries in lines that begin with increasing numbers of one style; empty if the first line has no
    number."""
    lines = _remove_note(lines)
    first = next((line for line in lines if line.strip()), "")
    mark = entry_number(first)
    if mark is None:
        return []
    style, last = mark[0], mark[1] - 1
    entries: list[tuple[int, list[str]]] = []
    dated = False
    for line in lines:
        found = entry_number(line)
        step = found[1] - last if found and found[0] == style else -1
        # A number may be printed twice by mistake.
        repeated = step == 0 and style == "bracket" and dated
        # The columns of a page may be in another order.
        is_lower = found is not None and found[0] == style == "bracket" and -_MAX_GAP <= step < 0
        late = is_lower and found is not None and found[1] not in dict(entries[-_MAX_LATE:])
        if found and (repeated or late or 0 < step <= (_MAX_GAP if style == "bracket" else 2)):
            last = max(last, found[1])
            entries.append((found[1], [strip_mark(line)]))
            dated = has_year_or_link(entries[-1][1][0])
        elif entries:
            entries[-1][1].append(line)
            dated = dated or has_year_or_link(line)
    if style in ("bare", "dot") and len(entries) < 2 and len([line for line in lines if line.strip()]) > 3:
        return []
    return [
        PrintedEntry(text, number)
        for number, part in entries
        for text, number in _split_inline_entries(number, "\n".join(part))
    ]


def _remove_note(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines without a note on the list above its first number, if at least three entries are numbered from
    1."""
    places = [place for place, line in enumerate(lines) if entry_number(line)]
    numbers = [entry_number(lines[place]) for place in places[:_MIN_INLINE]]
    above = [line for line in lines[: places[0]] if line.strip()] if places else []
    consecutive = [mark and mark[1] for mark in numbers] == list(range(1, _MIN_INLINE + 1))
    if (
        not consecutive
        or len(above) > _MAX_NOTE_LINES
        or any(map(reads_like_entry, above))
        or (has_year_or_link(" ".join(above)) and numbers[0] is not None and numbers[0][0] != "bracket")
    ):
        return lines
    return lines[places[0] :]


def _split_inline_entries(number: int, text: str) -> Iterator[tuple[str, int]]:
    """Yield an entry and the entries that follow it on the same line, if they have the next numbers."""
    while True:
        following = next(
            (match for match in _INLINE.finditer(text) if int(match["bracket"] or match["dot"]) == number + 1), None
        )
        # The number must follow the end of an entry, unlike the 3 in `p. 3. Lee`.
        if (
            following is None
            or not has_year_or_link(text[: following.start()])
            or not begins_with_names(text[following.end() :])
        ):
            yield text, number
            return
        yield text[: following.start()], number
        number, text = number + 1, text[following.end() :]


def _inline_numbers(text: str) -> list[PrintedEntry]:
    """Return the entries in running text that are numbered consecutively from 1; empty if there are too few."""
    for style in ("bracket", "dot"):
        cuts: list[re.Match[str]] = []
        for match in _INLINE.finditer(text):
            if match[style] is not None and int(match[style]) == len(cuts) + 1:
                cuts.append(match)
        if len(cuts) >= _MIN_INLINE and not text[: cuts[0].start()].strip():
            ends = [*(cut.start() for cut in cuts[1:]), len(text)]
            return [
                PrintedEntry(text[cut.end() : end], n) for n, (cut, end) in enumerate(zip(cuts, ends, strict=True), 1)
            ]
    return []


def _items(lines: Sequence[str]) -> list[PrintedEntry]:
    """Return the items of a list of bullets or keys; empty if the first line has neither."""
    first = next((line for line in lines if line.strip()), "")
    if not ITEM_MARK.match(first):
        return []
    entries: list[list[str]] = []
    above = ""
    for line in lines:
        if match := ITEM_MARK.match(line):
            entries.append([line[match.end() :]])
        elif entries and not above.strip() and reads_like_entry(line):
            entries.append([line])
        elif entries:
            entries[-1].append(line)
        above = line
    items: list[PrintedEntry] = []
    for part in entries:
        # Word may show its own numbers as bullets, and the text has the numbers of entries that share an item.
        found = list(_split_inline_entries(len(items) + 1, "\n".join(part)))
        items += [PrintedEntry(text, number if len(found) > 1 else None) for text, number in found]
    return items


def _paragraphs(lines: Sequence[str]) -> list[PrintedEntry]:
    """Return the entries of a list in which each is a paragraph of one line, dated or not; empty unless most paragraphs
    begin with names."""
    texts = _ADDRESS_BELOW.sub(" ", "\n".join(filter(str.strip, lines))).split("\n")
    apart = all(not line.strip() or not after.strip() for line, after in pairwise(lines))
    named, dated = sum(map(begins_with_names, texts)), sum(map(has_year_or_link, texts))
    if (
        not apart
        or len(texts) < _MIN_INLINE
        or named < _MIN_NAMED_SHARE * len(texts)
        or dated < _MIN_DATED_SHARE * len(texts)
    ):
        return []
    entries: list[str] = []
    for text in texts:
        begins = reads_like_entry(text) or _is_whole_entry(text)
        if (
            not entries
            or begins
            or (begins_with_names(text) and (has_year_or_link(text) or len(text) >= _MIN_UNDATED_CHARS))
        ):
            entries.append(text)
        else:
            entries[-1] += f"\n{text}"
    return [PrintedEntry(part) for entry in entries for part in split_run_on(entry)]


def _split_unmarked(lines: Sequence[str]) -> Iterator[str]:
    """Yield the entries of a list without marks. A piece without a date is joined to the entry before it."""
    pending: list[str] = []
    complete = False
    for piece in _pieces(lines):
        dated = has_year_or_link(piece)
        if complete and dated:
            yield "\n".join(pending)
            pending = []
        pending.append(piece)
        complete = complete or dated
    if complete:
        yield "\n".join(pending)


def _pieces(lines: Sequence[str]) -> Iterator[str]:
    """Yield the pieces of a list that may be entries, each with its line ends."""
    places = [place for place, line in enumerate(lines) if line.strip()]
    indented = [bool(_INDENTED.match(lines[place])) for place in places]
    if any(indented) and not all(indented) and not indented[0]:
        starts = [place for place, inside in zip(places, indented, strict=True) if not inside]
        pieces = list(_slice_between(lines, starts))
        # An appendix may follow, whose lines begin at the same edge.
        last = max((place for place, piece in enumerate(pieces, 1) if reads_like_entry(piece)), default=len(pieces))
        if sum(map(has_year_or_link, pieces[:last])) >= _MIN_NAMED_SHARE * last:
            yield from pieces
            return
    if places:
        yield from _slice_between(lines, list(_starts(lines, places)))


def _slice_between(lines: Sequence[str], starts: Sequence[int]) -> Iterator[str]:
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield from split_run_on("\n".join(lines[start:end]))


def _starts(lines: Sequence[str], places: Sequence[int]) -> Iterator[int]:
    """Yield the lines that begin an entry: the line above ends an entry, and this line begins with names. If the list
    has dates directly after the names, the names must be followed by a date."""
    ahead = {place: _join_ahead(lines, place) for place in places}
    dated = [place for place in places if reads_like_entry(ahead[place])]
    by_date = len(dated) >= _MIN_DATED and reads_like_entry(ahead[places[0]])
    paragraphs = [place for place in places if place == 0 or not lines[place - 1].strip()]
    at_paragraphs, is_broken = frozenset(paragraphs), _is_broken(paragraphs, lines)
    # The rest of an entry in a paragraph of its own has no date before the next paragraph.
    dated = [place for place in dated if has_year_or_link(lines[place]) or place + 2 not in at_paragraphs]
    at_dates = frozenset(dated)
    apart = _are_entries_apart(paragraphs, at_dates, lines)
    if not by_date and not apart and len(titled := list(_titled_starts(lines, places, ahead))) >= _MIN_TITLED:
        yield from titled
        return
    all_entries = len(places) > 1 and all(_is_whole_entry(lines[place]) for place in places)
    above = ""
    ended = complete = False
    for place in places:
        if not above or all_entries:
            begins = True
        elif apart:
            begins = place in at_paragraphs
        elif by_date:
            below_unended = begins_with_date(lines[place]) and not _CONTINUES.search(above)
            begins = complete and place in at_dates and (ended or place in at_paragraphs or below_unended)
        elif place in at_paragraphs and not is_broken:
            begins = complete
        else:
            begins = complete and ended and begins_with_names(lines[place])
        if begins:
            yield place
            complete = False
        # An address or a date may be continued on the next line.
        is_rest_of_address = _ENDS_IN_ADDRESS.search(above) and len(lines[place].split()) == 1
        complete = complete or has_year_or_link(lines[place] if begins else f"{above} {lines[place].strip()}")
        above = lines[place]
        ended = bool(is_rest_of_address or _ENDED.search(above))


def _join_ahead(lines: Sequence[str], place: int) -> str:
    """Return the text from a line on in which the date of an entry is looked for; it may follow many names."""
    size = 1 + 3 * begins_with_names(lines[place])
    return " ".join(" ".join(lines[place : place + 4 * size]).split())[: _LOOK_AHEAD * size]


def _titled_starts(lines: Sequence[str], places: Sequence[int], ahead: Mapping[int, str]) -> Sequence[int]:
    """Return the lines that begin an entry of a list that prints titles before names; empty if most entries do not
    begin so. Such a line begins with a capital letter, below the end of an entry with a date."""
    starts: list[int] = []
    dated = ended = True
    above = ""
    for place in places:
        line = lines[place].strip()
        begins = line[0].isupper() or line[0] in "“\"«„'‘*["
        if dated and ended and begins and may_end_entry(above) and not _NO_TITLE.match(line):
            starts.append(place)
            dated = False
        above = line
        dated = dated or has_year_or_link(above)
        ended = bool(_ENDED.search(above))
    titled = [place for place in starts if _has_names_after_title(lines, place, ahead[place])]
    return starts if len(titled) >= _MIN_TITLED_SHARE * len(starts) else ()


def _has_names_after_title(lines: Sequence[str], place: int, ahead: str) -> bool:
    """Return whether an entry begins with its title, and names follow on the same line or on the next."""
    below = next((line.strip() for line in lines[place + 1 : place + 3] if line.strip()), "")
    return parse_title_first(ahead) is not None or (
        not begins_with_names(lines[place]) and bool(names_after_title(below))
    )


def _is_whole_entry(line: str) -> bool:
    begins = not line[0].isspace() and (not line[0].islower() or begins_with_names(line))
    return begins and len(line) >= 30 and has_year_or_link(line) and bool(_ENDED.search(line[-500:]))


def _are_entries_apart(paragraphs: Sequence[int], dated: Collection[int], lines: Sequence[str]) -> bool:
    """Return whether each paragraph of a list is an entry, although many have no author: each is short, has a date or
    an address, and holds no beginning of another entry."""
    texts = [lines[start:end] for start, end in zip(paragraphs, [*paragraphs[1:], len(lines)], strict=True)]
    return (
        len(texts) >= _MIN_PARAGRAPHS
        and set(dated) <= set(paragraphs)
        and all(
            len([line for line in text if line.strip()]) <= _MAX_NOTE_LINES
            and has_year_or_link("\n".join(text))
            and not text[0][0].islower()
            for text in texts
        )
    )


def _is_broken(paragraphs: Sequence[int], lines: Sequence[str]) -> bool:
    """Return whether the blank lines in a list are accidental: most paragraphs do not begin like an entry."""
    return len(paragraphs) > 2 and sum(begins_with_names(lines[place]) for place in paragraphs) < 0.5 * len(paragraphs)
