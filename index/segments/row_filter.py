"""Which rows of a segment a search may return: by filters, and without the rows that a version hides."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import Filters

__all__ = ["NO_FILTERS", "RowFilter", "read_hidden", "write_hidden"]

NO_FILTERS = Filters()


@dataclass(frozen=True, eq=False)
class RowFilter:
    """The first `rows` rows, less those that a mask excludes. What is derived from the mask is cached, as a segment
    keeps this for the next query with the same filters."""

    rows: int
    mask: NDArray[np.bool_] | None = None
    """One value a row, True where it is allowed; None where all of the first rows are."""

    @cached_property
    def count(self) -> int:
        return self.rows if self.mask is None else int(np.count_nonzero(self.mask[: self.rows]))

    @cached_property
    def bits(self) -> NDArray[np.uint8] | None:
        """The mask up to the last of the first rows, eight to a byte, the lowest bit first."""
        return None if self.mask is None else np.packbits(self.mask[: self.rows], bitorder="little")

    def row_numbers(self) -> NDArray[np.int64]:
        if self.mask is None:
            return np.arange(self.rows, dtype=np.int64)
        return np.flatnonzero(self.mask[: self.rows]).astype(np.int64)


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
