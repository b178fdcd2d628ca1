"""What an update does to the segments at hand: which rows stop answering, and which segments are written again."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.building.compaction import Size, rewritten
from index.reading.records import PaperRecord
from index.segments.segment import Segment, SegmentEntry
from index.segments.words import place

__all__ = ["Revision", "RowsOf", "revise"]

Rows = NDArray[np.int64]
"""Of papers in one segment, ascending."""
_NONE: Rows = np.empty(0, np.int64)


class RowsOf(NamedTuple):
    segment: Segment
    rows: Rows


@dataclass(frozen=True)
class Revision:
    segments: Sequence[Segment]
    """Those of the version before, the oldest first."""
    leaving: Mapping[int, Rows]
    """Rows that answered until now and will not, by the segment's place in the list."""
    again: frozenset[int]
    """Places of the segments that are written again."""

    @property
    def kept(self) -> list[SegmentEntry]:
        return [segment.entry for number, segment in enumerate(self.segments) if number not in self.again]

    @property
    def hidden(self) -> dict[str, list[int]]:
        """Of the segments that are kept, by name: the rows of before and those that leave now."""
        rows = {
            segment.entry.name: self._hidden(number).tolist()
            for number, segment in enumerate(self.segments)
            if number not in self.again
        }
        return {name: some for name, some in rows.items() if some}

    @property
    def rewritten(self) -> list[RowsOf]:
        """The papers that go on answering, of the segments that are written again."""
        return [RowsOf(self.segments[number], self._live(number)) for number in sorted(self.again)]

    @property
    def read_again(self) -> list[RowsOf]:
        """Papers whose texts may come again: those that leave, and those that are written again."""
        numbers = sorted({*self.leaving, *self.again})
        return [RowsOf(self.segments[number], self._dropped(number)) for number in numbers]

    def records(self) -> Iterator[PaperRecord]:
        """What is written again."""
        for segment, rows in self.rewritten:
            yield from map(segment.store.record, rows.tolist())

    def dropped(self) -> tuple[list[int], list[int]]:
        """Places in the word index of papers, and in that of passages, that do not answer there any more."""
        papers: list[int] = []
        passages: list[int] = []
        for segment, rows in self.read_again:
            papers += [place(segment.entry.ordinal, row) for row in rows.tolist()]
            passages += [place(segment.entry.ordinal, row) for row in segment.passages_of(rows).tolist()]
        return papers, passages

    def _hidden(self, number: int) -> Rows:
        return np.union1d(self.segments[number].hidden, self.leaving.get(number, _NONE))

    def _live(self, number: int) -> Rows:
        return np.setdiff1d(np.arange(len(self.segments[number])), self._hidden(number))

    def _dropped(self, number: int) -> Rows:
        leaving = self.leaving.get(number, _NONE)
        return np.union1d(leaving, self._live(number)) if number in self.again else leaving


def revise(segments: Sequence[Segment], leaving: Iterable[tuple[int, int]], coming: int, most: int) -> Revision:
    """`leaving` are places of segments and rows in them, `coming` the papers that the update brings, `most` the papers
    of a segment."""
    rows: dict[int, list[int]] = defaultdict(list)
    for number, row in leaving:
        rows[number].append(row)
    sizes = [Size(len(one), len(one.hidden) + len(rows.get(number, ()))) for number, one in enumerate(segments)]
    return Revision(
        segments,
        {number: np.unique(np.array(some, np.int64)) for number, some in rows.items()},
        frozenset(rewritten(sizes, coming, most)),
    )
