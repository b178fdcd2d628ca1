"""Contents of the simulated data sets in two editions, a month apart, between which papers are added, removed and
changed.

All differences depend on a paper's number, so that a test with the same library knows the expected contents."""

import datetime as dt
from typing import Literal, NamedTuple

from simulator.outside.library import Entry, Library

EditionNumber = Literal[1, 2]
RELEASES: dict[EditionNumber, str] = {1: "2026-10-06", 2: "2026-11-03"}
_ADDED = " A later version corrects an error in the second table."


class Held(NamedTuple):
    """Paper as it is in one edition."""

    entry: Entry
    abstract: str
    references: tuple[Entry, ...]


class Edition:
    """Edition of the data sets. The second edition adds a tenth of the papers, removes one in fifty, changes the
    abstract of one in twenty, and removes one citation from one in thirty."""

    def __init__(self, library: Library, number: EditionNumber) -> None:
        self.library = library
        self.number = number
        found = (self._held(entry) for entry in library.entries)
        self.papers: dict[int, Held] = {held.entry.number: held for held in found if held is not None}

    def _held(self, entry: Entry) -> Held | None:
        second, place = self.number == 2, entry.number
        if place % 50 == 7 if second else place % 10 == 9:
            return None
        cited = tuple(reference for reference in self.library.references(entry) if second or reference.number % 10 != 9)
        changed = second and place % 20 == 3
        shorter = second and place % 30 == 4
        return Held(entry, entry.record.abstract + (_ADDED if changed else ""), cited[1:] if shorter else cited)


def stamp_of(held: Held | None, entry: Entry, second: bool) -> dt.date:
    """Return the day on which arXiv last changed the record: in November if the second edition added, removed or
    changed the paper, otherwise in September."""
    gone = held is None
    changed = second and (gone or entry.number % 10 == 9 or entry.number % 20 == 3)
    return dt.date(2026, 11, 1 + entry.number % 3) if changed else dt.date(2026, 9, 1 + entry.number % 30)
