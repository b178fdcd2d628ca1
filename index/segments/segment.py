"""One immutable part of a corpus: papers that one build or update brought, with their vectors, passages, citations."""

import datetime as dt
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assayer.models import Frozen
from index.files import FileSum
from index.filters import Filters
from index.segments.allowed import Allowed
from index.segments.citations import Citations
from index.segments.dense import Dense, DenseParameters
from index.segments.layout import PAPERS, PASSAGES, PassagePlace, read_places
from index.segments.store import PaperStore

__all__ = ["Segment", "SegmentEntry"]

_FILTERS_REMEMBERED = 16


class SegmentEntry(Frozen):
    """What a manifest says of a segment."""

    name: str
    """Of its directory: a hash of the records and of all that determines what is made of them."""
    ordinal: int
    """Stands for the segment in places; no two segments of a corpus ever had the same."""
    papers: int
    dated: int
    earliest: dt.date | None
    latest: dt.date | None
    full_texts: int
    with_references: int
    passages: int
    paper_index: DenseParameters
    passage_index: DenseParameters | None
    """None without passages of its own."""
    hidden: int = 0
    """Papers that a later segment replaced, or that were deleted."""
    files: tuple[FileSum, ...]


class Segment:
    """Rows of papers are sorted by date, undated last; passages lie in the order of their papers."""

    def __init__(self, directory: Path, entry: SegmentEntry, hidden: NDArray[np.int64], exact_up_to: int) -> None:
        self.entry = entry
        self.store = PaperStore(directory)
        self.citations = Citations(directory)
        self.papers = Dense(directory / PAPERS, entry.paper_index, exact_up_to)
        self.passages: Dense | None = None
        self.places: NDArray[np.int32] = np.empty((0, len(PassagePlace._fields)), np.int32)
        if entry.passage_index is not None:
            self.passages = Dense(directory / PASSAGES, entry.passage_index, exact_up_to)
            self.places = read_places(directory / PASSAGES)
        self.hidden = hidden
        """Rows that do not answer, ascending."""
        self.allowed = lru_cache(_FILTERS_REMEMBERED)(self._allowed)
        self.allowed_passages = lru_cache(_FILTERS_REMEMBERED)(self._allowed_passages)

    def __len__(self) -> int:
        return len(self.store)

    def hides(self, row: int) -> bool:
        place = int(np.searchsorted(self.hidden, row))
        return place < len(self.hidden) and int(self.hidden[place]) == row

    def passages_of(self, papers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of the passages of some papers, ascending."""
        wanted = np.zeros(len(self), np.bool_)
        wanted[papers] = True
        return np.flatnonzero(wanted[self.places[:, 0]])

    def _allowed(self, filters: Filters) -> Allowed:
        """Of the papers; what `without` names is left to whoever asks, who knows ids."""
        rows = self.store.until(filters.before)
        if filters.only_before and not len(self.hidden):
            return Allowed(rows)
        mask = np.ones(len(self), np.bool_)
        mask[self.hidden] = False
        mask[: self.store.since(filters.after)] = False
        if filters.venues:
            mask &= self._any_of("venue", filters.venues)
        if filters.fields:
            mask &= self._any_of("fields", filters.fields)
        if filters.retracted is not None:
            mask &= self.store.column("retracted").to_numpy() == filters.retracted
        return Allowed(rows, mask)

    def _allowed_passages(self, filters: Filters) -> Allowed:
        papers = self.allowed(filters)
        rows = int(np.searchsorted(self.places[:, 0], papers.rows))
        return Allowed(rows, None if papers.mask is None else papers.mask[self.places[:, 0]])

    def _any_of(self, column: str, names: frozenset[str]) -> NDArray[np.bool_]:
        wanted = [name.lower() for name in names]
        values = self.store.column(column)
        if column == "fields":
            rows = pc.list_parent_indices(values).to_numpy()
            values = pc.list_flatten(values)
        else:
            rows = np.arange(len(self))
        mask = np.zeros(len(self), np.bool_)
        named = pc.is_in(pc.utf8_lower(values), value_set=pa.array(wanted, pa.string()))
        mask[rows[named.to_numpy(zero_copy_only=False)]] = True
        return mask
