"""Vectors from many files, copied one after the other into one: neither memory nor what is open grows with their
number."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from assayer.ports import Vectors
from index.building.text_embedding import KnownVectors, VectorBlock
from index.hashing import Hashes
from index.segments.lexical_rows import LexicalRows

__all__ = ["GatheredVectors"]


class _ArrayFile:
    """Values of one type in a file without a name, which is gone once nothing refers to it or to its array."""

    def __init__(self, directory: Path | None, kind: DTypeLike) -> None:
        self._file: IO[bytes] = TemporaryFile(dir=directory)  # noqa: SIM115 # closed with GatheredVectors
        self._kind = np.dtype(kind)

    def append(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._kind).data)

    def array(self) -> NDArray[Any]:
        """All, memory-mapped; it remains readable after the file is closed."""
        self._file.flush()
        count = self._file.seek(0, 2) // self._kind.itemsize
        return np.asarray(np.memmap(self._file, self._kind, "r", shape=(count,))) if count else np.empty(0, self._kind)

    def close(self) -> None:
        self._file.close()


class GatheredVectors:
    """In half precision, with the lexical weights where every text has them. Memory: eight bytes a text."""

    def __init__(self, directory: Path | None = None, wanted: Hashes | None = None) -> None:
        """Files lie in the directory, or where the system puts temporary files. `wanted` are hashes in order, each
        once: other texts are passed over."""
        self._wanted = wanted
        self._texts: list[Hashes] = []
        self._dimensions = 0
        self._weighed = True
        self._lengths: list[NDArray[np.int64]] = []
        with ExitStack() as stack:
            self._vectors, self._tokens, self._weights = (
                self._opened(stack, directory, kind) for kind in (np.float16, np.int32, np.float16)
            )
            self._files = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, texts: Hashes, vectors: Vectors, lexical: LexicalRows | None) -> None:
        """Copies what is wanted of it. Raises OSError for a full disk."""
        rows = np.arange(len(texts)) if self._wanted is None else np.flatnonzero(_among(texts, self._wanted))
        if not len(rows):
            return
        self._texts.append(texts[rows])
        self._dimensions = vectors.shape[1]
        self._vectors.append(vectors[rows])
        self._weighed &= lexical is not None
        if self._weighed and lexical is not None:
            for own in _slices(lexical, rows):
                self._tokens.append(lexical.tokens[own])
                self._weights.append(lexical.weights[own])
            self._lengths.append(np.diff(lexical.offsets)[rows])

    def known(self) -> KnownVectors:
        """Readable after the files are closed."""
        if not self._texts:
            return KnownVectors([])
        texts = np.concatenate(self._texts)
        self._texts = [texts]
        lexical = None
        if self._weighed:
            offsets = np.concatenate([[0], *self._lengths]).cumsum(dtype=np.int64)
            lexical = LexicalRows(offsets, self._tokens.array(), self._weights.array())
        vectors = self._vectors.array().reshape(len(texts), self._dimensions)
        return KnownVectors([VectorBlock(texts, np.arange(len(texts)), vectors, lexical)])

    @staticmethod
    def _opened(stack: ExitStack, directory: Path | None, kind: DTypeLike) -> _ArrayFile:
        file = _ArrayFile(directory, kind)
        stack.callback(file.close)
        return file


def _among(texts: Hashes, wanted: Hashes) -> NDArray[np.bool_]:
    places = np.searchsorted(wanted, texts)
    found = places < len(wanted)
    found[found] = wanted[places[found]] == texts[found]
    return found


def _slices(lexical: LexicalRows, rows: NDArray[np.int64]) -> Iterator[slice]:
    for first, last in zip(lexical.offsets[rows].tolist(), lexical.offsets[rows + 1].tolist(), strict=True):
        yield slice(first, last)
