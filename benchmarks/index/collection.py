"""Clustered vectors with their index, queries and exact answers, stored in a directory for reuse."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from assayer.models import Frozen
from assayer.ports import Vectors
from benchmarks.index.clusters import clustered
from index.segments.approximate_index import Candidates, IndexKind
from index.segments.row_filter import RowFilter
from index.segments.vector_index import (
    EXACT_UP_TO,
    INDEX_FILE,
    VectorIndex,
    VectorIndexParameters,
    build_vector_index,
    create_vectors_file,
    search_exactly,
)

DIMENSIONS, LIMIT, BATCH = 384, 10, 64
_SINGLE, _ROUNDS, _JUDGED = 400, 24, 300
"""Number of single queries, of batches, and of queries with known exact answers."""
_SURPLUS = 4
"""Multiple of the answer size that suffices to find the exact answer if a tenth of the rows is excluded."""


class Built(Frozen):
    rows: int
    seconds: float
    processor_seconds: float
    index_mb: float
    parameters: VectorIndexParameters


def draw_vectors(directory: Path, rows: int) -> None:
    """Write the vectors, unless they exist, either completely or not at all."""
    if not directory.is_dir():
        unfinished = directory.with_name(f"{directory.name}.part")
        unfinished.mkdir(parents=True, exist_ok=True)
        vectors, row = create_vectors_file(unfinished, rows, DIMENSIONS), 0
        for block in clustered(rows, seed=1, dimensions=DIMENSIONS):
            vectors[row : row + len(block)] = block
            row += len(block)
        unfinished.rename(directory)


def build(directory: Path, kind: IndexKind | None) -> Built:
    """Build the index of the vectors in a directory, or return the record of an earlier build."""
    note = directory / "built.json"
    if note.is_file():
        return Built.model_validate_json(note.read_bytes())
    vectors = np.load(directory / "vectors.npy", mmap_mode="r")
    tuning = np.concatenate(list(clustered(600, seed=3, dimensions=DIMENSIONS)))
    start, spent = perf_counter(), process_time()
    parameters = build_vector_index(vectors, directory, tuning, EXACT_UP_TO, kind)
    built = Built(
        rows=len(vectors),
        seconds=perf_counter() - start,
        processor_seconds=process_time() - spent,
        index_mb=(directory / INDEX_FILE).stat().st_size / 1e6,
        parameters=parameters,
    )
    note.write_text(built.model_dump_json(), "utf-8")
    return built


class Collection:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.parameters = Built.model_validate_json((directory / "built.json").read_bytes()).parameters
        rows = self.parameters.rows
        self.conditions = (RowFilter(rows), RowFilter(rows * 3 // 10), RowFilter(rows, np.arange(rows) % 10 != 0))
        """Filters: all rows, the rows before a cutoff, and all but a masked tenth."""
        queries = np.concatenate(list(clustered(_SINGLE + _ROUNDS * BATCH, seed=2, dimensions=DIMENSIONS)))
        self.judged = queries[:_JUDGED]
        self.singles = [queries[number : number + 1] for number in range(_SINGLE)]
        self.batches = [queries[_SINGLE + number * BATCH :][:BATCH] for number in range(_ROUNDS)]

    @property
    def vectors(self) -> Vectors:
        vectors: Vectors = np.load(self._directory / "vectors.npy", mmap_mode="r")
        return vectors

    def dense(self) -> VectorIndex:
        return VectorIndex(self._directory, self.parameters, EXACT_UP_TO)

    @cached_property
    def true(self) -> Candidates:
        """Ten nearest rows of each judged query under each condition, computed once and stored."""
        path = self._directory / "true.npy"
        if not path.is_file():
            searched = {allowed.rows for allowed in self.conditions}
            found = {rows: search_exactly(self.vectors[:rows], self.judged, _SURPLUS * LIMIT) for rows in searched}
            np.save(path, np.stack([self._best(found[allowed.rows], allowed) for allowed in self.conditions]))
        return np.asarray(np.load(path))

    def _best(self, found: Candidates, allowed: RowFilter) -> Candidates:
        chosen, vectors = [], self.vectors
        for query, rows in zip(self.judged, found, strict=True):
            counting = rows if allowed.mask is None else rows[allowed.mask[rows]]
            cosines = vectors[counting].astype(np.float32) @ query
            chosen.append(counting[np.argsort(-cosines, kind="stable")[:LIMIT]])
        return np.stack(chosen)

    def recall(self, found: Sequence[NDArray[np.int64]], condition: int = 0) -> float:
        """Return the share of the exact ten nearest rows that were found."""
        return float(
            np.mean([np.isin(best, rows).mean() for best, rows in zip(self.true[condition], found, strict=True)])
        )
