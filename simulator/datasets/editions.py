"""Contents of the simulated data sets in two editions, a month apart, between which papers are added, removed and
changed.

All differences depend on a paper's number, so that a test with the same library knows the expected contents."""

import datetime as dt
from typing import Literal, NamedTuple

from simulator.outside.library import Entry, Library

EditionNumber = Literal[1, 2]
RELEASES: dict[EditionNumber, str] = {1: "2026-10-06", 2: "2026-11-03"}
_ADDED = " A later version corrects an error in the second table."


class EditionPaper(NamedTuple):
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
        papers = (self._build_paper(entry) for entry in library.entries)
        self.papers: dict[int, EditionPaper] = {paper.entry.number: paper for paper in papers if paper is not None}

    def _build_paper(self, entry: Entry) -> EditionPaper | None:
        is_second, number = self.number == 2, entry.number
        if number % 50 == 7 if is_second else number % 10 == 9:
            return None
        references = tuple(
            reference for reference in self.library.list_references(entry) if is_second or reference.number % 10 != 9
        )
        is_changed = is_second and number % 20 == 3
        is_shorter = is_second and number % 30 == 4
        return EditionPaper(
            entry, entry.record.abstract + (_ADDED if is_changed else ""), references[1:] if is_shorter else references
        )


def compute_datestamp(paper: EditionPaper | None, entry: Entry, is_second: bool) -> dt.date:
    """Return the day on which arXiv last changed the record: in November if the second edition added, removed or
    changed the paper, otherwise in September."""
    is_removed = paper is None
    is_changed = is_second and (is_removed or entry.number % 10 == 9 or entry.number % 20 == 3)
    return dt.date(2026, 11, 1 + entry.number % 3) if is_changed else dt.date(2026, 9, 1 + entry.number % 30)
