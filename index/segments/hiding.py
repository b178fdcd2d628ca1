"""Rows of a segment that no longer answer: a version's own, as the segment itself never changes."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["read_hidden", "write_hidden"]


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
