"""Clustered vectors with their index, queries and exact answers, stored in a directory for reuse."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from assayer.models import Frozen
from assayer.ports import Vectors
from benchmarks.index.clusters import generate_vectors
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
_SINGLE_COUNT, _BATCH_COUNT, _JUDGED_COUNT = 400, 24, 300
"""Number of single queries, of batches, and of queries with known exact answers."""
_SURPLUS = 4
"""Multiple of the answer size that suffices to find the exact answer if a tenth of the rows is excluded."""


class BuildRecord(Frozen):
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
        for block in generate_vectors(rows, seed=1, dimensions=DIMENSIONS):
            vectors[row : row + len(block)] = block
            row += len(block)
        unfinished.rename(directory)


def build(directory: Path, kind: IndexKind | None) -> BuildRecord:
    """Build the index of the vectors in a directory, or return the record of an earlier build."""
    record_file = directory / "built.json"
    if record_file.is_file():
        return BuildRecord.model_validate_json(record_file.read_bytes())
    vectors = np.load(directory / "vectors.npy", mmap_mode="r")
    tuning_vectors = np.concatenate(list(generate_vectors(600, seed=3, dimensions=DIMENSIONS)))
    start, processor_start = perf_counter(), process_time()
    parameters = build_vector_index(vectors, directory, tuning_vectors, EXACT_UP_TO, kind)
    built = BuildRecord(
        rows=len(vectors),
        seconds=perf_counter() - start,
        processor_seconds=process_time() - processor_start,
        index_mb=(directory / INDEX_FILE).stat().st_size / 1e6,
        parameters=parameters,
    )
    record_file.write_text(built.model_dump_json(), "utf-8")
    return built


class Collection:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.parameters = BuildRecord.model_validate_json((directory / "built.json").read_bytes()).parameters
        rows = self.parameters.rows
        self.conditions = (RowFilter(rows), RowFilter(rows * 3 // 10), RowFilter(rows, np.arange(rows) % 10 != 0))
        """Filters: all rows, the rows before a cutoff, and all but a masked tenth."""
        queries = np.concatenate(
            list(generate_vectors(_SINGLE_COUNT + _BATCH_COUNT * BATCH, seed=2, dimensions=DIMENSIONS))
        )
        self.judged_queries = queries[:_JUDGED_COUNT]
        self.single_queries = [queries[number : number + 1] for number in range(_SINGLE_COUNT)]
        self.query_batches = [queries[_SINGLE_COUNT + number * BATCH :][:BATCH] for number in range(_BATCH_COUNT)]

    @property
    def vectors(self) -> Vectors:
        vectors: Vectors = np.load(self._directory / "vectors.npy", mmap_mode="r")
        return vectors

    def open_index(self) -> VectorIndex:
        return VectorIndex(self._directory, self.parameters, EXACT_UP_TO)

    @cached_property
    def exact_rows(self) -> Candidates:
        """Ten nearest rows of each judged query under each condition, computed once and stored."""
        path = self._directory / "true.npy"
        if not path.is_file():
            row_limits = {row_filter.rows for row_filter in self.conditions}
            nearest_rows = {
                rows: search_exactly(self.vectors[:rows], self.judged_queries, _SURPLUS * LIMIT) for rows in row_limits
            }
            np.save(
                path,
                np.stack(
                    [self._find_best(nearest_rows[row_filter.rows], row_filter) for row_filter in self.conditions]
                ),
            )
        return np.asarray(np.load(path))

    def _find_best(self, nearest_rows: Candidates, row_filter: RowFilter) -> Candidates:
        best_rows, vectors = [], self.vectors
        for query, rows in zip(self.judged_queries, nearest_rows, strict=True):
            allowed_rows = rows if row_filter.mask is None else rows[row_filter.mask[rows]]
            cosines = vectors[allowed_rows].astype(np.float32) @ query
            best_rows.append(allowed_rows[np.argsort(-cosines, kind="stable")[:LIMIT]])
        return np.stack(best_rows)

    def compute_recall(self, rows_by_query: Sequence[NDArray[np.int64]], condition: int = 0) -> float:
        """Return the share of the exact ten nearest rows that were found."""
        return float(
            np.mean(
                [
                    np.isin(best, rows).mean()
                    for best, rows in zip(self.exact_rows[condition], rows_by_query, strict=True)
                ]
            )
        )
