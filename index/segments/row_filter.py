"""Which rows of a segment a search may return: by filters, and without the rows that a version hides."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import Filters

__all__ = ["NO_FILTERS", "RowFilter", "read_hidden", "write_hidden"]

NO_FILTERS = Filters()


class RowFilter:
    """The first `rows` rows, less those that a mask excludes. A segment keeps this for the next queries with the same
    filters, so it is small: eight rows to a byte."""

    def __init__(self, rows: int, mask: NDArray[np.bool_] | None = None) -> None:
        """The mask has one value a row, True where it is allowed; None where all of the first rows are."""
        self.rows = rows
        self.bits: NDArray[np.uint8] | None = None if mask is None else np.packbits(mask[:rows], bitorder="little")
        """Of the first rows, the lowest bit of a byte first."""
        self.count = rows if mask is None else int(np.count_nonzero(mask[:rows]))

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Of the first rows, made anew every time."""
        if self.bits is None:
            return None
        return np.unpackbits(self.bits, count=self.rows, bitorder="little").view(np.bool_)

    def allows(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of these rows may be returned."""
        allowed = rows < self.rows
        if self.bits is not None and self.rows:
            within = np.where(allowed, rows, 0)
            allowed &= (self.bits[within >> 3] >> (within & 7).astype(np.uint8) & 1).astype(np.bool_)
        return allowed

    def row_numbers(self) -> NDArray[np.int64]:
        mask = self.mask
        if mask is None:
            return np.arange(self.rows, dtype=np.int64)
        return np.flatnonzero(mask).astype(np.int64)


def write_hidden(directory: Path, segment: str, rows: Iterable[int]) -> None:
    hidden = np.array(sorted(rows), np.int64)
    if len(hidden):
        np.save(_file(directory, segment), hidden)


def read_hidden(directory: Path, segment: str) -> NDArray[np.int64]:
    """Ascending; none where nothing was hidden."""
    path = _file(directory, segment)
    return np.asarray(np.load(path, mmap_mode="r")) if path.is_file() else np.empty(0, np.int64)


def _file(directory: Path, segment: str) -> Path:
    return directory / f"hidden-{segment}.npy"
