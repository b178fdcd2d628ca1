"""Entries that follow each other in one piece of a reference list without line ends."""

import re
from collections.abc import Iterator

from assayer.reference_lists.entry_shape import DATE, UPPER, has_year_or_link, is_names_and_date, reads_like_entry
from assayer.reference_lists.identifiers import ADDRESS

_BREAK = re.compile(r"(?<=[.)\]\d>”\"*])\s+(?=\S)")
_CAPITALS = re.compile(rf"{UPPER}(?:{UPPER}|['’-]){{2,30}}(?:,| {UPPER}{{2}})")
"""Family name in capitals."""
_DATE = re.compile(DATE)
_URL = re.compile(r"https?://\S+")
_WORD = re.compile(r"[^\W\d_]{4,}")
_MIN_TITLE_LETTERS = 8
"""Minimum number of letters in the words after the names and the date of an entry, its title."""
_AHEAD, _BEFORE = 400, 12
"""Number of characters in which names and a date are looked for, and in which an entry ends."""


def split_run_on(piece: str) -> Iterator[str]:
    """Yield the entries that follow each other in one piece without line ends; each begins with names followed by a
    date and a title, in capitals if the first does: a place or a publisher may be followed by a date too."""
    text, start = piece, 0
    flat = " ".join(text.split())
    if len(flat) < 160:
        yield piece
        return
    in_capitals = _CAPITALS.match(flat) is not None
    cuts = [
        match.end()
        for match in _BREAK.finditer(flat)
        if reads_like_entry(ahead := flat[match.end() : match.end() + _AHEAD])
        and _has_title_after_date(ahead)
        and may_end_entry(flat[max(0, match.start() - _BEFORE) : match.start()])
        and (not in_capitals or _CAPITALS.match(flat, match.end()))
    ]
    if not cuts:
        yield piece
        return
    for cut in cuts:
        if has_year_or_link(flat[start:cut]) and not is_names_and_date(flat[start:cut]):
            yield flat[start:cut]
            start = cut
    yield flat[start:]


def _has_title_after_date(text: str) -> bool:
    date = _DATE.search(text)
    words = _WORD.findall(_URL.sub("", ADDRESS.sub("", text[date.end() :]))) if date else []
    return sum(map(len, words)) >= _MIN_TITLE_LETTERS


def may_end_entry(text: str) -> bool:
    """Return whether an entry can end at the end of a text. It cannot end after an initial, `et al.`, `&` or
    `COVID-19`."""
    return not re.search(r"(?:\b[^\W\d_]\.|\bal\.|\beds?\.|&|\bJr\.|[A-Z]-\d{1,2})$", text[-_BEFORE:])
