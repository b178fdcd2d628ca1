"""Which rows of a segment count for a question."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Allowed"]


@dataclass(frozen=True, eq=False)
class Allowed:
    """Rows that count: the first so many, less those that a mask takes away. What is derived of the mask is kept, as a
    segment keeps this for the next question with the same filters."""

    rows: int
    mask: NDArray[np.bool_] | None = None
    """One value a row, True where it counts; None where all of the first do."""

    @cached_property
    def count(self) -> int:
        return self.rows if self.mask is None else int(np.count_nonzero(self.mask[: self.rows]))

    @cached_property
    def bits(self) -> NDArray[np.uint8] | None:
        """The mask up to the last of the first rows, eight to a byte, the lowest bit first."""
        return None if self.mask is None else np.packbits(self.mask[: self.rows], bitorder="little")

    def listed(self) -> NDArray[np.int64]:
        if self.mask is None:
            return np.arange(self.rows, dtype=np.int64)
        return np.flatnonzero(self.mask[: self.rows]).astype(np.int64)
