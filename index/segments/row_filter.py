"""Filter for a segment's rows. A search can return a row if it passes the filters and the version does not hide it."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import Filters
from index.arrays import load_array

NO_FILTERS = Filters()


class RowFilter:
    """Filter that allows the first `rows` rows, except those that a mask excludes. The mask is packed, with eight rows
    per byte, because segments cache filters."""

    def __init__(self, rows: int, mask: NDArray[np.bool_] | None = None) -> None:
        """Create a filter. The mask is True for each allowed row; if it is None, all of the first `rows` rows are
        allowed."""
        self.rows = rows
        self.bits: NDArray[np.uint8] | None = None if mask is None else np.packbits(mask[:rows], bitorder="little")
        """Packed mask for the first rows, lowest bit of each byte first; None if all are allowed."""
        self.count = rows if mask is None else int(np.count_nonzero(mask[:rows]))

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Mask for the first rows, unpacked on every access; None if all are allowed."""
        if self.bits is None:
            return None
        return np.unpackbits(self.bits, count=self.rows, bitorder="little").view(np.bool_)

    def allows(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return, for each row, whether it is allowed."""
        is_allowed = rows < self.rows
        if self.bits is not None and self.rows:
            safe_rows = np.where(is_allowed, rows, 0)
            is_allowed &= (self.bits[safe_rows >> 3] >> (safe_rows & 7).astype(np.uint8) & 1).astype(np.bool_)
        return is_allowed

    def list_row_numbers(self) -> NDArray[np.int64]:
        mask = self.mask
        if mask is None:
            return np.arange(self.rows, dtype=np.int64)
        return np.flatnonzero(mask).astype(np.int64)


def write_hidden(directory: Path, segment: str, rows: Iterable[int]) -> None:
    hidden_rows = np.array(sorted(rows), np.int64)
    if len(hidden_rows):
        np.save(_build_path(directory, segment), hidden_rows)


def read_hidden(directory: Path, segment: str) -> NDArray[np.int64]:
    """Return a segment's hidden rows, ascending; empty if there are none."""
    path = _build_path(directory, segment)
    return load_array(path) if path.is_file() else np.empty(0, np.int64)


def _build_path(directory: Path, segment: str) -> Path:
    return directory / f"hidden-{segment}.npy"
