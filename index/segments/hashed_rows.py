"""Look up a segment's rows by 64-bit hash, in two memory-mapped arrays sorted by hash. This is used to find papers by
id or key, and citing papers by cited work."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.arrays import load_array
from index.hashing import Hashes


class RowFiles(NamedTuple):
    """Names of the two files that hold the arrays."""

    hashes: str
    rows: str

    def write(self, hashes: Hashes, rows: NDArray[np.uint32], directory: Path) -> None:
        order = np.argsort(hashes, kind="stable")
        np.save(directory / self.hashes, hashes[order])
        np.save(directory / self.rows, rows[order])


class HashedRows:
    def __init__(self, directory: Path, files: RowFiles) -> None:
        self._hashes: Hashes = load_array(directory / files.hashes)
        self._rows: NDArray[np.uint32] = load_array(directory / files.rows)

    def __len__(self) -> int:
        return len(self._hashes)

    def find_ranges(self, hashes: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the range of entries for each hash, as two arrays: first entry, and entry after the last."""
        return np.searchsorted(self._hashes, hashes, "left"), np.searchsorted(self._hashes, hashes, "right")

    def find_rows(self, hash_value: int) -> NDArray[np.uint32]:
        """Return the rows with a hash, in the order they were written."""
        first, last = self.find_ranges(np.array([hash_value], np.uint64))
        return self._rows[int(first[0]) : int(last[0])]

    def find_candidates(self, hashes: Hashes) -> list[list[int]]:
        """Return the rows for each hash; several rows can have the same hash."""
        pairs = zip(*map(np.ndarray.tolist, self.find_ranges(hashes)), strict=True)
        return [self._rows[start:end].tolist() for start, end in pairs]

    def find_matches(self, hashes: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all (position in `hashes`, row with that hash) pairs as two arrays, ascending by position."""
        first, last = self.find_ranges(hashes)
        counts = last - first
        places = np.repeat(np.arange(len(hashes)), counts)
        steps = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return places, self._rows[first[places] + steps].astype(np.int64)
