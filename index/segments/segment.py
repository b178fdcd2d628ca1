"""Immutable segment of a corpus: papers that one build or update wrote, with their vectors, passages, citations and
contents."""

import datetime as dt
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assayer.models import Filters, Frozen, PaperContents
from index.hashing import FileChecksum
from index.segments.citation_graph import CitationGraph
from index.segments.content_graph import BaseGraphCounts, ContentGraph
from index.segments.hashed_rows import HashedRows
from index.segments.lexical_index import LexicalIndex
from index.segments.paper_keys import PAPER_KEYS
from index.segments.paper_store import PaperStore
from index.segments.passage_citations import PassageCitations
from index.segments.passages import PassageLocation, read_locations
from index.segments.row_filter import RowFilter
from index.segments.vector_index import VectorIndex, VectorIndexParameters
from index.segments.weak_method import cache_method

_FILTERS_REMEMBERED = 16
PAPERS_FOLDER = "papers"
"""Directory of the index over titles and abstracts, with one row per paper."""
PASSAGES_FOLDER = "passages"
"""Directory of the index over the other passages, in the order of their papers."""


class SegmentEntry(Frozen):
    """A segment's entry in a manifest."""

    name: str
    """Name of the segment's directory: a hash of the records and of all settings that affect its files."""
    ordinal: int
    """Number that identifies the segment in the BM25 index. It is never reused within a corpus."""
    papers: int
    dated: int
    earliest: dt.date | None
    latest: dt.date | None
    full_texts: int
    with_references: int
    passages: int
    paper_index: VectorIndexParameters
    passage_index: VectorIndexParameters | None
    """Parameters of the passage index; None if the segment has no passages."""
    graph: BaseGraphCounts
    """Counts for the content graph."""
    lexical: bool = False
    """True if the segment's texts have lexical weights, which are stored next to each vector index."""
    hidden: int = 0
    """Number of papers that were deleted or replaced by a later segment."""
    files: tuple[FileChecksum, ...]


class Segment:
    """Open segment. Paper rows are sorted by date, with undated papers last; passages are in the order of their
    papers."""

    def __init__(self, directory: Path, entry: SegmentEntry, hidden_rows: NDArray[np.int64], exact_up_to: int) -> None:
        self.entry = entry
        self._directory = directory
        self.store = PaperStore(directory)
        self.citations = CitationGraph(directory)
        self.papers = VectorIndex(directory / PAPERS_FOLDER, entry.paper_index, exact_up_to)
        self.passages: VectorIndex | None = None
        self.passage_locations: NDArray[np.int32] = np.empty((0, len(PassageLocation._fields)), np.int32)
        if entry.passage_index is not None:
            self.passages = VectorIndex(directory / PASSAGES_FOLDER, entry.passage_index, exact_up_to)
            self.passage_locations = read_locations(directory / PASSAGES_FOLDER)
        self.paper_weights: LexicalIndex | None = None
        self.passage_weights: LexicalIndex | None = None
        """Lexical weights of the passages; None if the segment has no lexical weights or no passages."""
        if entry.lexical:
            self.paper_weights = LexicalIndex(directory / PAPERS_FOLDER, len(self.store))
            if entry.passage_index is not None:
                self.passage_weights = LexicalIndex(directory / PASSAGES_FOLDER, len(self.passage_locations))
        self.passage_citations = PassageCitations(directory / PASSAGES_FOLDER)
        self.hidden = hidden_rows
        """Rows of papers that were deleted or replaced by a later segment, ascending."""
        self.get_row_filter = cache_method(self._build_row_filter, _FILTERS_REMEMBERED)
        self.get_passage_row_filter = cache_method(self._build_passage_row_filter, _FILTERS_REMEMBERED)

    def __len__(self) -> int:
        return len(self.store)

    @cached_property
    def paper_keys(self) -> HashedRows:
        return HashedRows(self._directory, PAPER_KEYS)

    @cached_property
    def contents(self) -> ContentGraph:
        return ContentGraph(self._directory)

    def get_contents(self, row: int) -> PaperContents:
        return self.contents.get_contents(row, *self.store.get_title_and_abstract(row))

    def is_hidden(self, row: int) -> bool:
        if not len(self.hidden):
            return False
        place = int(np.searchsorted(self.hidden, row))
        return place < len(self.hidden) and int(self.hidden[place]) == row

    def find_newest_citing(self, cited_hash: int, limit: int, filters: Filters) -> NDArray[np.int64]:
        """Return the rows of up to `limit` papers that cite the paper with this hashed id and pass the filters, newest
        first and undated last. Reads no records. The caller must apply `filters.without`."""
        return self.select_newest(self.citations.find_citing_rows(cited_hash), limit, filters)

    def select_newest(self, rows: NDArray[np.uint32], limit: int, filters: Filters) -> NDArray[np.int64]:
        """Return up to `limit` of the rows that pass the filters, newest first and undated last. `rows` must be
        ascending. The caller must apply `filters.without`."""
        row_filter = self.get_row_filter(filters)
        rows = rows[: np.searchsorted(rows, row_filter.rows)]
        rows = rows[row_filter.allows(rows)]
        dated_count = int(np.searchsorted(rows, self.store.dated))
        newest = np.concatenate([rows[:dated_count][::-1][:limit], rows[dated_count:][::-1]])[:limit]
        return newest.astype(np.int64)

    def find_passage_rows(self, papers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the papers' passages, ascending."""
        is_wanted = np.zeros(len(self), np.bool_)
        is_wanted[papers] = True
        return np.flatnonzero(is_wanted[self.passage_locations[:, 0]])

    def _build_row_filter(self, filters: Filters) -> RowFilter:
        """Return the row filter for papers. It ignores `filters.without`: the caller must apply that filter."""
        rows = self.store.count_until(filters.window.before)
        if filters.only_before and not len(self.hidden):
            return RowFilter(rows)
        mask = np.ones(len(self), np.bool_)
        mask[self.hidden] = False
        mask[: self.store.find_first_row_since(filters.window.after)] = False
        if filters.venues:
            mask &= self._match_any_name("venue", filters.venues)
        if filters.fields:
            mask &= self._match_any_name("fields", filters.fields)
        if filters.retracted is not None:
            mask &= self.store.read_column("retracted").to_numpy() == filters.retracted
        return RowFilter(rows, mask)

    def _build_passage_row_filter(self, filters: Filters) -> RowFilter:
        papers = self.get_row_filter(filters)
        rows = int(np.searchsorted(self.passage_locations[:, 0], papers.rows))
        return RowFilter(rows, None if papers.bits is None else papers.allows(self.passage_locations[:rows, 0]))

    def _match_any_name(self, column: str, names: frozenset[str]) -> NDArray[np.bool_]:
        lowered_names = [name.lower() for name in names]
        values = self.store.read_column(column)
        if column == "fields":
            rows = pc.list_parent_indices(values).to_numpy()
            values = pc.list_flatten(values)
        else:
            rows = np.arange(len(self))
        mask = np.zeros(len(self), np.bool_)
        is_named = pc.is_in(pc.utf8_lower(values), value_set=pa.array(lowered_names, pa.string()))
        mask[rows[is_named.to_numpy(zero_copy_only=False)]] = True
        return mask
