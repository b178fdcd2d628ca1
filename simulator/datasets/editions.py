"""Contents of the simulated data sets, before and after a month: papers are added, removed and changed.

Everything follows from a paper's number, so a test that reads the same library knows what must arrive."""

import datetime as dt
from typing import Literal, NamedTuple

from simulator.outside.library import Entry, Library

EditionNumber = Literal[1, 2]
RELEASES: dict[EditionNumber, str] = {1: "2026-10-06", 2: "2026-11-03"}
_ADDED = " A later version corrects an error in the second table."


class Held(NamedTuple):
    """A paper as an edition has it."""

    entry: Entry
    abstract: str
    references: tuple[Entry, ...]


class Edition:
    """A tenth of the papers come with the second edition; it loses one in fifty, one in twenty has another abstract,
    and one in thirty cites one paper less."""

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
    """When arXiv last changed its record: in September, or in November what the second edition changed."""
    gone = held is None
    changed = second and (gone or entry.number % 10 == 9 or entry.number % 20 == 3)
    return dt.date(2026, 11, 1 + entry.number % 3) if changed else dt.date(2026, 9, 1 + entry.number % 30)
