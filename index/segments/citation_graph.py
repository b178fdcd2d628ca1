"""Citations in memory-mapped arrays: eight bytes an edge in each direction, whatever the length of ids.

Edges hold hashes of ids instead of rows. So a segment does not change when another one adds, moves or removes a paper
that it cites, and an edge to a paper that arrives later is there already.
"""

import heapq
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.hashing import Hashes, hash64

__all__ = ["UNDATED", "CitationGraph", "DatedUnit", "newest_first", "write_citations"]

UNDATED = -(2**31)
"""Before every day."""

_STARTS, _CITED, _SORTED, _CITING = "cites-starts.npy", "cites.npy", "cited.npy", "citing.npy"


def write_citations(references: Sequence[pa.ListArray], directory: Path) -> None:
    """`references` in the order of the papers' rows, in chunks; null where the source does not say."""
    lengths = [pc.fill_null(pc.list_value_length(some), 0).to_numpy(zero_copy_only=False) for some in references]
    counts = np.concatenate([np.empty(0, np.int64), *lengths]).astype(np.int64)
    cited = np.concatenate([np.empty(0, np.uint64), *(hash64(some.flatten().to_pylist()) for some in references)])
    citing = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    order = np.argsort(cited, kind="stable")
    np.save(directory / _STARTS, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    np.save(directory / _CITED, cited)
    np.save(directory / _SORTED, cited[order])
    np.save(directory / _CITING, citing[order])


class DatedUnit(NamedTuple):
    """A paper and its day."""

    unit: int
    day: int
    """Of publication, since 1970; `UNDATED` where it is not known."""


def newest_first(citing: Iterable[DatedUnit], limit: int) -> list[DatedUnit]:
    """The newest; those of one day in a fixed order."""
    return heapq.nlargest(limit, citing, key=lambda one: (one.day, one.unit))


class CitationGraph:
    """Compressed sparse rows, and the same edges sorted by the cited paper."""

    def __init__(self, directory: Path) -> None:
        self._starts: NDArray[np.int64] = np.asarray(np.load(directory / _STARTS, mmap_mode="r"))
        self._cited: Hashes = np.asarray(np.load(directory / _CITED, mmap_mode="r"))
        self._sorted: Hashes = np.asarray(np.load(directory / _SORTED, mmap_mode="r"))
        self._citing: NDArray[np.uint32] = np.asarray(np.load(directory / _CITING, mmap_mode="r"))

    def __len__(self) -> int:
        """Edges, those to papers that are not there included."""
        return len(self._cited)

    def cited_by(self, row: int) -> Hashes:
        """Hashes of what the paper in a row cites, in the order of its list."""
        return self._cited[self._starts[row] : self._starts[row + 1]]

    def citing_edges(self, cited: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each paper with one of these hashes the first edge to it, and the one after the last."""
        first, last = np.searchsorted(self._sorted, cited, "left"), np.searchsorted(self._sorted, cited, "right")
        return first, last

    def citing(self, cited: int) -> NDArray[np.uint32]:
        """Rows of the papers that cite the paper with this hash, ascending, each once."""
        wanted = np.uint64(cited)
        first, last = np.searchsorted(self._sorted, wanted, "left"), np.searchsorted(self._sorted, wanted, "right")
        rows = self._citing[first:last]
        return rows[np.concatenate([[True], rows[1:] != rows[:-1]])] if len(rows) else rows
