"""Numbers of entries that stand on lines of their own."""

import re

from assayer.reference_lists.entry_shape import entry_number

_MIN_BARE = 3
"""Minimum number of numbers without punctuation."""
_NUMBER_ALONE = re.compile(
    r"^(?P<mark>[ \t]*(?:\[(?P<bracket>\d{1,3})\]|(?P<dot>\d{1,3})\.))[ \t]*\n\s*(?!\[)", re.MULTILINE
)
_BARE_NUMBER_ALONE = re.compile(r"^[ \t]*(?P<number>\d{1,3})[ \t]*\n\s*(?=[^\W\d_a-z])", re.MULTILINE)
"""Number of an entry on a line of its own."""


def join_numbers_alone(text: str) -> str:
    """Return a list with each number that stands alone joined to its entry. A page number at the end of an entry, such
    as `375.`, has no neighbour among the numbers of entries."""
    alone = [int(match["bracket"] or match["dot"]) for match in _NUMBER_ALONE.finditer(text)]
    marks = map(entry_number, text.split("\n") if alone else ())
    numbers = {mark[1] for mark in marks if mark}.union(alone)

    def choose_separator(match: re.Match[str]) -> str:
        number = int(match["bracket"] or match["dot"])
        return f"{match['mark']} " if number == 1 or numbers & {number - 1, number + 1} else match[0]

    joined = _NUMBER_ALONE.sub(choose_separator, text) if alone else text
    bare = [int(number) for number in _BARE_NUMBER_ALONE.findall(joined)]
    is_list = len(bare) >= _MIN_BARE and bare == list(range(1, len(bare) + 1))
    return _BARE_NUMBER_ALONE.sub(r"[\g<number>] ", joined) if is_list else joined
