"""Gather vectors from many files into one, so that memory and open files do not grow with the number of files."""

from array import array
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from assayer.ports import Vectors
from index.building.text_embedding import KnownVectors, VectorBlock
from index.hashing import Hashes, hash64
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWithVector
from index.segments.lexical_rows import LexicalRows
from index.segments.passages import build_paper_text


class _ArrayFile:
    """Array in an unnamed temporary file. The file is deleted once neither it nor the array is referenced."""

    def __init__(self, directory: Path | None, kind: DTypeLike) -> None:
        self._file: IO[bytes] = TemporaryFile(dir=directory)  # noqa: SIM115 # closed with GatheredVectors
        self._kind = np.dtype(kind)

    def append(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._kind).data)

    def map_values(self) -> NDArray[Any]:
        """Return all values as a memory-mapped array, which remains readable after the file is closed."""
        self._file.flush()
        count = self._file.seek(0, 2) // self._kind.itemsize
        return np.asarray(np.memmap(self._file, self._kind, "r", shape=(count,))) if count else np.empty(0, self._kind)

    def close(self) -> None:
        self._file.close()


class GatheredVectors:
    """Collection of half-precision vectors on disk, with lexical weights if every text has them. It uses eight bytes of
    memory per text."""

    def __init__(self, directory: Path | None = None, wanted_hashes: Hashes | None = None) -> None:
        """Create the files in a directory, by default the system's temporary directory. `wanted_hashes` contains the
        sorted, unique hashes of the texts to gather; None gathers all."""
        self._wanted_hashes = wanted_hashes
        self._texts = array("Q")
        self._dimensions = 0
        self._has_weights = True
        self._lengths: list[NDArray[np.int64]] = []
        with ExitStack() as stack:
            self._vectors, self._tokens, self._weights = (
                self._open_file(stack, directory, kind) for kind in (np.float16, np.int32, np.float16)
            )
            self._files = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, texts: Hashes, vectors: Vectors, lexical: LexicalRows | None) -> None:
        """Copy the vectors and weights of the wanted texts. Raises OSError if the disk is full."""
        rows = (
            np.arange(len(texts))
            if self._wanted_hashes is None
            else np.flatnonzero(_is_wanted(texts, self._wanted_hashes))
        )
        if not len(rows):
            return
        self._texts.frombytes(texts[rows].tobytes())
        self._dimensions = vectors.shape[1]
        self._vectors.append(vectors[rows])
        self._has_weights &= lexical is not None
        if self._has_weights and lexical is not None:
            for row_slice in _slice_by_row(lexical, rows):
                self._tokens.append(lexical.tokens[row_slice])
                self._weights.append(lexical.weights[row_slice])
            self._lengths.append(np.diff(lexical.offsets)[rows])

    def get_vectors(self) -> KnownVectors:
        """Return the gathered vectors, which remain readable after the files are closed. If a text has several, the
        first is used."""
        if not self._texts:
            return KnownVectors([])
        texts = np.frombuffer(self._texts, np.uint64)
        lexical = None
        if self._has_weights:
            offsets = np.concatenate([[0], *self._lengths]).cumsum(dtype=np.int64)
            lexical = LexicalRows(offsets, self._tokens.map_values(), self._weights.map_values())
        vectors = self._vectors.map_values().reshape(len(texts), self._dimensions)
        return KnownVectors([VectorBlock(texts, np.arange(len(texts)), vectors, lexical)], self._compute_signature())

    def _compute_signature(self) -> str:
        return ""

    @staticmethod
    def _open_file(stack: ExitStack, directory: Path | None, kind: DTypeLike) -> _ArrayFile:
        file = _ArrayFile(directory, kind)
        stack.callback(file.close)
        return file


class RecordVectors(GatheredVectors):
    """Vectors supplied with records, keyed by the hash of title and abstract."""

    def __init__(self, directory: Path | None = None) -> None:
        super().__init__(directory)
        self._digest = blake2b(digest_size=8)

    def collect(self, records: Iterable[RecordWithVector]) -> Iterator[PaperRecord]:
        """Yield the records after storing their vectors. The caller must have validated the vectors."""
        for record, vector in records:
            if vector is not None:
                text = hash64([build_paper_text(record.title, record.abstract)])
                self.add(text, vector.values[np.newaxis], None)
                self._digest.update(text.tobytes() + vector.values.astype(np.float16).tobytes())
            yield record

    def _compute_signature(self) -> str:
        return self._digest.hexdigest()


def _is_wanted(texts: Hashes, wanted_hashes: Hashes) -> NDArray[np.bool_]:
    places = np.searchsorted(wanted_hashes, texts)
    is_known = places < len(wanted_hashes)
    is_known[is_known] = wanted_hashes[places[is_known]] == texts[is_known]
    return is_known


def _slice_by_row(lexical: LexicalRows, rows: NDArray[np.int64]) -> Iterator[slice]:
    for first, last in zip(lexical.offsets[rows].tolist(), lexical.offsets[rows + 1].tolist(), strict=True):
        yield slice(first, last)
