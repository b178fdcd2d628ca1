"""Plan compaction: decide which rows an update hides, and which older segments it rewrites with the new papers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.records.paper_record import PaperRecord
from index.segments.bm25_index import compute_document_id
from index.segments.segment import Segment, SegmentEntry

_RATIO = 2.0
"""A segment is rewritten together with the papers being written if it has at most this many times as many papers. The
number of segments, and of rewrites per paper, thus grows logarithmically with the number of papers."""
_HIDDEN = 0.3
"""Share of hidden papers in a segment above which it is rewritten, because hidden papers slow down searches."""
Rows = NDArray[np.int64]
"""Rows of papers in one segment, ascending."""
_NONE: Rows = np.empty(0, np.int64)


class SegmentSize(NamedTuple):
    papers: int
    hidden: int

    @property
    def live(self) -> int:
        return self.papers - self.hidden


def choose_segments_to_rewrite(sizes: Sequence[SegmentSize], new_papers: int, max_papers: int) -> list[int]:
    """Return the indices of the segments to rewrite, ascending. `sizes` lists all segments, oldest first; `new_papers`
    is the number of new and changed papers in the update, and `max_papers` the maximum number of papers in a
    segment."""
    chosen_places = [place for place, size in enumerate(sizes) if not size.live or size.hidden > _HIDDEN * size.papers]
    writing = new_papers + sum(sizes[place].live for place in chosen_places)
    for place in reversed(range(len(sizes))):
        size = sizes[place]
        if place in chosen_places:
            continue
        if size.live > _RATIO * writing or writing + size.live > max_papers:
            break
        chosen_places.append(place)
        writing += size.live
    return sorted(chosen_places)


class SegmentRows(NamedTuple):
    segment: Segment
    rows: Rows


@dataclass(frozen=True)
class SegmentRevision:
    segments: Sequence[Segment]
    """Segments of the previous version, oldest first."""
    leaving: Mapping[int, Rows]
    """Rows that this update hides, keyed by segment index."""
    rewritten_numbers: frozenset[int]
    """Indices of the segments that are rewritten."""

    @property
    def kept_entries(self) -> list[SegmentEntry]:
        return [segment.entry for number, segment in enumerate(self.segments) if number not in self.rewritten_numbers]

    @property
    def hidden_rows(self) -> dict[str, list[int]]:
        """Hidden rows in the kept segments, keyed by segment name, including those that this update hides."""
        rows = {
            segment.entry.name: self._list_hidden_rows(number).tolist()
            for number, segment in enumerate(self.segments)
            if number not in self.rewritten_numbers
        }
        return {name: hidden for name, hidden in rows.items() if hidden}

    @property
    def rewritten_rows(self) -> list[SegmentRows]:
        """Rows in the rewritten segments that are not hidden."""
        return [
            SegmentRows(self.segments[number], self._list_live_rows(number))
            for number in sorted(self.rewritten_numbers)
        ]

    @property
    def reusable_rows(self) -> list[SegmentRows]:
        """Rows whose vectors may be needed again: those that this update hides or rewrites."""
        numbers = sorted({*self.leaving, *self.rewritten_numbers})
        return [SegmentRows(self.segments[number], self._list_dropped_rows(number)) for number in numbers]

    def read_rewritten_records(self) -> Iterator[PaperRecord]:
        """Yield the records of the rewritten papers."""
        for segment, rows in self.rewritten_rows:
            yield from map(segment.store.read_record, rows.tolist())

    def list_dropped_documents(self) -> tuple[list[int], list[int]]:
        """Return the document ids to remove from the BM25 indexes of papers and of passages."""
        papers: list[int] = []
        passages: list[int] = []
        for segment, rows in self.reusable_rows:
            papers += [compute_document_id(segment.entry.ordinal, row) for row in rows.tolist()]
            passages += [
                compute_document_id(segment.entry.ordinal, row) for row in segment.find_passage_rows(rows).tolist()
            ]
        return papers, passages

    def _list_hidden_rows(self, number: int) -> Rows:
        return np.union1d(self.segments[number].hidden, self.leaving.get(number, _NONE))

    def _list_live_rows(self, number: int) -> Rows:
        return np.setdiff1d(np.arange(len(self.segments[number])), self._list_hidden_rows(number))

    def _list_dropped_rows(self, number: int) -> Rows:
        leaving_rows = self.leaving.get(number, _NONE)
        return (
            np.union1d(leaving_rows, self._list_live_rows(number)) if number in self.rewritten_numbers else leaving_rows
        )


def revise_segments(
    segments: Sequence[Segment], leaving_rows: Iterable[tuple[int, int]], new_papers: int, max_papers: int
) -> SegmentRevision:
    """Plan how an update changes the segments. `leaving_rows` are the rows to hide, as (segment index, row) pairs;
    `new_papers` and `max_papers` are as in `choose_segments_to_rewrite`."""
    rows: dict[int, list[int]] = defaultdict(list)
    for number, row in leaving_rows:
        rows[number].append(row)
    sizes = [
        SegmentSize(len(segment), len(segment.hidden) + len(rows.get(number, ())))
        for number, segment in enumerate(segments)
    ]
    return SegmentRevision(
        segments,
        {number: np.unique(np.array(row_numbers, np.int64)) for number, row_numbers in rows.items()},
        frozenset(choose_segments_to_rewrite(sizes, new_papers, max_papers)),
    )
