"""Lexical weights arranged by row, as they are written and as later builds reuse them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assayer.ports import LexicalWeights
from index.arrays import load_array


class LexicalRows(NamedTuple):
    """Lexical weights for several texts. Row r has the entries `offsets[r]` to `offsets[r + 1]` (exclusive), sorted by
    token."""

    offsets: NDArray[np.int64]
    tokens: NDArray[np.int32]
    weights: NDArray[np.float16]
    """Weights in half precision, within 0.05 % of the model's values."""

    def get_row(self, number: int) -> LexicalWeights:
        first, last = int(self.offsets[number]), int(self.offsets[number + 1])
        return LexicalWeights(np.array(self.tokens[first:last]), self.weights[first:last].astype(np.float32))


def pack_rows(rows: Sequence[LexicalWeights]) -> LexicalRows:
    counts = [len(row.tokens) for row in rows]
    return LexicalRows(
        np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *(row.tokens for row in rows)]).astype(np.int32),
        np.concatenate([np.empty(0, np.float16), *(row.weights.astype(np.float16) for row in rows)]),
    )


class LexicalSpool:
    """Temporary file that collects rows, so that memory use does not grow with their number."""

    def __init__(self, path: Path) -> None:
        """Create a spool. Its file is created when the context is entered, and removed when it ends."""
        self._path = path
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._file = self._path.open("w+b")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        self._path.unlink(missing_ok=True)

    def append(self, rows: Sequence[LexicalWeights]) -> None:
        """Append the next rows, in order."""
        for values in pack_rows(rows):
            np.save(self._open_file, values)

    def read_blocks(self) -> Iterator[LexicalRows]:
        """Yield the rows in blocks, as they were appended."""
        file = self._open_file
        last = file.seek(0, 2)
        file.seek(0)
        while file.tell() < last:
            yield LexicalRows(load_array(file), load_array(file), load_array(file))

    @property
    def _open_file(self) -> IO[bytes]:
        if self._file is None:
            raise ValueError("the spool is closed")
        return self._file
