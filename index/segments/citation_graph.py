"""Citations in a segment, in memory-mapped arrays.

Edges store hashes of the cited ids instead of rows. A segment therefore does not change when another segment adds or
removes a paper that it cites, and an edge to a paper that is added later already exists."""

import heapq
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.arrays import load_array
from index.hashing import Hashes, hash64
from index.segments.hashed_rows import HashedRows, RowFiles

UNDATED = -(2**31)
"""Day number of an undated paper, before every date."""

_STARTS, _CITED = "cites-starts.npy", "cites.npy"
_CITING = RowFiles("cited.npy", "citing.npy")


def write_citations(references: Sequence[pa.ListArray], directory: Path) -> None:
    """Write the citations. `references` contains, in chunks, one list of cited ids per paper, in row order; null if the
    source does not state them."""
    lengths = [
        pc.fill_null(pc.list_value_length(id_lists), 0).to_numpy(zero_copy_only=False) for id_lists in references
    ]
    counts = np.concatenate([np.empty(0, np.int64), *lengths]).astype(np.int64)
    cited_hashes = np.concatenate(
        [np.empty(0, np.uint64), *(hash64(id_lists.flatten().to_pylist()) for id_lists in references)]
    )
    citing_rows = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    np.save(directory / _STARTS, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    np.save(directory / _CITED, cited_hashes)
    _CITING.write(cited_hashes, citing_rows, directory)


class DatedUnit(NamedTuple):
    """Paper with its publication day."""

    unit: int
    day: int
    """Day of publication, counted from 1970; `UNDATED` if unknown."""


def keep_newest(units: Iterable[DatedUnit], limit: int) -> list[DatedUnit]:
    """Return the newest `limit` papers, newest first; papers from the same day are ordered by descending unit."""
    return heapq.nlargest(limit, units, key=lambda item: (item.day, item.unit))


class CitationGraph:
    """Citation graph as compressed sparse rows, and the same edges sorted by cited paper."""

    def __init__(self, directory: Path) -> None:
        self._starts: NDArray[np.int64] = load_array(directory / _STARTS)
        self._cited_hashes: Hashes = load_array(directory / _CITED)
        self.citing_rows = HashedRows(directory, _CITING)
        """Rows of citing papers, keyed by the hash of the cited id; one entry per citation."""

    def __len__(self) -> int:
        """Return the number of citations, including citations of papers that are not in the corpus."""
        return len(self._cited_hashes)

    def get_cited_hashes(self, row: int) -> Hashes:
        """Return the hashed ids that the paper in a row cites, in the order of its reference list."""
        return self._cited_hashes[self._starts[row] : self._starts[row + 1]]

    def find_citing_rows(self, cited_hash: int) -> NDArray[np.uint32]:
        """Return the distinct rows of the papers that cite the paper with this hashed id, ascending."""
        rows = self.citing_rows.find_rows(cited_hash)
        return rows[np.concatenate([[True], rows[1:] != rows[:-1]])] if len(rows) else rows
