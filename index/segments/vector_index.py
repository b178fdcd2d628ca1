"""Nearest-vector search: exact for few rows, otherwise with an approximate index that is tuned for recall.

Rows are sorted by publication date, so the rows before a cutoff are a prefix. Other filters, and papers that a later
segment replaced, are passed as a mask; if it leaves few rows, these are searched exactly. With 25,000 rows, an exact
matrix product takes 1 ms, the same as HNSW or IVF at equal recall."""

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Frozen
from assayer.ports import Vectors
from index.arrays import create_memory_map, load_array
from index.segments.approximate_index import (
    INDEX_CONSTANTS,
    RESCORED_PER_RESULT,
    ApproximateIndex,
    Candidates,
    IndexKind,
    build_approximate_index,
    choose_index_kind,
)
from index.segments.gpu_search import GpuVectors
from index.segments.gpus import Gpus
from index.segments.row_filter import RowFilter

EXACT_UP_TO = 50_000
"""Largest number of allowed rows that is searched exactly, even if there is an approximate index."""
INDEX_FILE = "ivf.faiss"
_VECTORS = "vectors.npy"
_QUERIES_AT_ONCE, _SCORED_AT_ONCE = 64, 16_384
_SPARE = 8
"""Number of additional candidates. Products for batched queries differ in their last bits from those for single
queries, and batching must not affect which papers are returned."""
_ROWS_AT_ONCE = 65_536
TARGET_RECALL = 0.998
"""Target recall@10, which determines how many lists are probed. It is measured on blends of three of the corpus's own
passages, which lie between clusters like queries from another field. On such queries, recall was at least 0.985."""
_WANTED = 10
_TUNED_ON = 300
"""Maximum number of blends used for tuning."""
_MAX_RESCORED = 64
TUNING_CONSTANTS = (TARGET_RECALL, _TUNED_ON, _MAX_RESCORED, INDEX_CONSTANTS)
"""Constants that a built index depends on."""


class VectorIndexParameters(Frozen):
    kind: IndexKind
    rows: int
    lists: int | None = None
    trained_on: int | None = None
    """Number of training rows, spread evenly over all rows."""
    iterations: int | None = None
    seed: int | None = None
    """Seed of k-means."""
    rescored: int | None = None
    """Number of rescored candidates per requested result."""
    probes: int | None = None
    recall_at_10: float | None = None
    """Recall@10 against exact search on the tuning queries; None for an exact index."""
    gpus: int | None = None
    """Number of GPUs used for training; None for the CPU. A different number produces a different file."""


class VectorMatches(NamedTuple):
    """Rows and their cosines, best first. Equal cosines are ordered by row."""

    rows: NDArray[np.int64]
    similarities: NDArray[np.float64]


class VectorIndex:
    """Vector index in a directory. Vectors are memory-mapped."""

    def __init__(self, directory: Path, parameters: VectorIndexParameters, exact_up_to: int) -> None:
        """Open the index. Up to `exact_up_to` rows are searched exactly."""
        self.vectors: Vectors = load_array(directory / _VECTORS)
        self._exact_up_to = exact_up_to
        self._probes, self._rescored_per_result = parameters.probes or 0, parameters.rescored or 1
        self.approximate: ApproximateIndex | None = None
        if parameters.kind != "exact":
            self.approximate = ApproximateIndex.open(directory / INDEX_FILE, self.vectors)
        self._on_gpus: GpuVectors | None = None

    def move_to(self, gpus: Gpus) -> None:
        """Copy the vectors to the GPUs, which then find the candidates whenever possible. Raises ConfigurationError if
        they do not fit."""
        self._on_gpus = GpuVectors(self.vectors, gpus)

    def __len__(self) -> int:
        return len(self.vectors)

    def find_nearest(self, queries: Vectors, limit: int, row_filter: RowFilter) -> list[VectorMatches]:
        """Return the best allowed rows for each query."""
        candidate_count = min(limit, row_filter.count)
        matches: list[VectorMatches] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            query_batch = queries[start : start + _QUERIES_AT_ONCE]
            candidates = self._find_candidates(query_batch, candidate_count, row_filter)
            step = max(1, _SCORED_AT_ONCE // max(1, candidates.shape[1]))
            for first in range(0, len(query_batch), step):
                matches += self._rescore(query_batch[first : first + step], candidates[first : first + step], limit)
        return matches

    def compute_similarities(
        self, query: NDArray[np.float32], rows: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cosine between a query and each row, rounded to six decimals and independent of batching."""
        cosines = self.vectors[np.asarray(rows, np.int64)].astype(np.float64) @ query.astype(np.float64)
        return np.round(cosines, 6)

    def _rescore(self, queries: Vectors, candidates: Candidates, limit: int) -> list[VectorMatches]:
        """Return each query's best candidates, with the same cosines as `similarities`."""
        candidate_vectors = self.vectors[candidates].astype(np.float64)  # padding, -1, selects the last row
        cosines = np.einsum("qcd,qd->qc", candidate_vectors, queries.astype(np.float64)).round(6)
        cosines[candidates < 0] = -np.inf
        lines, order = np.arange(len(queries))[:, None], np.lexsort((candidates, -cosines))[:, :limit]
        rows, best = candidates[lines, order], cosines[lines, order]
        if rows.size and rows.min() < 0:
            return [
                VectorMatches(row[row >= 0], row_cosines[row >= 0]) for row, row_cosines in zip(rows, best, strict=True)
            ]
        return list(map(VectorMatches, rows, best))

    def _find_candidates(self, queries: Vectors, count: int, row_filter: RowFilter) -> Candidates:
        if (
            self._on_gpus is not None
            and (candidates := self._on_gpus.find_candidates(queries, count, row_filter)) is not None
        ):
            return candidates
        if self.approximate is None or row_filter.count <= self._exact_up_to:
            return self._search_exactly(queries, count + _SPARE, row_filter)
        # Each list contains fewer allowed rows than tuning assumed, so proportionally more lists are probed.
        probes = math.ceil(self._probes * len(self) / row_filter.count)
        return self.approximate.find_nearest(
            queries, count + _SPARE, count * self._rescored_per_result, probes, row_filter
        )

    def _search_exactly(self, queries: Vectors, limit: int, row_filter: RowFilter) -> Candidates:
        if row_filter.bits is None:
            return search_exactly(self._vectors_for_product[: row_filter.rows], queries, limit)
        row_numbers = row_filter.list_row_numbers()
        return row_numbers[search_exactly(self._vectors_for_product[row_numbers], queries, limit)]

    @cached_property
    def _vectors_for_product(self) -> Vectors:
        """Vectors for exact products. If there are few rows, they are converted to single precision once, because
        converting takes far longer than multiplying."""
        return self.vectors.astype(np.float32) if len(self) <= self._exact_up_to else self.vectors


def create_vectors_file(directory: Path, rows: int, dimensions: int) -> Vectors:
    """Create a memory-mapped file of vectors to be filled. Half precision halves disk and memory use, and changes the
    cosine between unit vectors by less than 0.0005."""
    return create_memory_map(directory / _VECTORS, np.dtype(np.float16), (rows, dimensions))


def search_exactly(vectors: Vectors, queries: Vectors, limit: int) -> Candidates:
    """Return the best `limit` rows for each query by exact search, in no particular order."""
    if limit >= len(vectors):
        return np.broadcast_to(np.arange(len(vectors), dtype=np.int64), (len(queries), len(vectors)))
    best = np.empty((len(queries), 0), np.int64)
    scores = np.empty((len(queries), 0), np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = np.asarray(vectors[start : start + _ROWS_AT_ONCE], np.float32)
        scores = np.hstack([scores, queries @ block.T])
        best = np.hstack([best, np.broadcast_to(np.arange(start, start + len(block)), (len(queries), len(block)))])
        if scores.shape[1] > limit:
            best_columns = np.argpartition(scores, -limit, axis=1)[:, -limit:]
            scores, best = np.take_along_axis(scores, best_columns, 1), np.take_along_axis(best, best_columns, 1)
    return best


def build_vector_index(
    vectors: Vectors,
    directory: Path,
    tuning_queries: Vectors,
    exact_up_to: int,
    kind: IndexKind | None = None,
    gpus: Gpus | None = None,
) -> VectorIndexParameters:
    """Build and write the index for `vectors`, which must be in the directory (see `create_vectors_file`).
    `tuning_queries` contains query vectors for tuning. If `kind` is None, it depends on the number of rows. If `gpus`
    is set, GPUs train the index and assign rows to its lists."""
    index_kind = kind or choose_index_kind(len(vectors), vectors.shape[1], exact_up_to)
    if index_kind == "exact":
        return VectorIndexParameters(kind="exact", rows=len(vectors))
    assigner = gpus.create_assigner(vectors.shape[1]) if gpus else None
    index, training = build_approximate_index(vectors, directory / INDEX_FILE, index_kind, assigner)
    sampled_queries = tuning_queries[
        np.linspace(0, len(tuning_queries) - 1, min(len(tuning_queries), _TUNED_ON)).astype(int)
    ]
    parameters = _choose_parameters(index, vectors, _blend(sampled_queries), RESCORED_PER_RESULT[index_kind])
    return VectorIndexParameters(
        kind=index_kind,
        rows=len(vectors),
        lists=training.lists,
        trained_on=training.rows,
        iterations=training.iterations,
        seed=training.seed,
        rescored=parameters.rescored,
        probes=parameters.probes,
        recall_at_10=round(parameters.measure_recall, 4),
        gpus=gpus.count if gpus else None,
    )


def _blend(queries: Vectors) -> Vectors:
    """Blend each query with two others, and normalize the result."""
    third = len(queries) // 3
    blended = queries + np.roll(queries, third, axis=0) + np.roll(queries, 2 * third, axis=0)
    unit_vectors: Vectors = blended / np.linalg.norm(blended, axis=1, keepdims=True)
    return unit_vectors


class _Tuned(NamedTuple):
    rescored: int
    probes: int
    measure_recall: float


def _choose_parameters(index: ApproximateIndex, vectors: Vectors, queries: Vectors, rescored: int) -> _Tuned:
    """Choose how many candidates to rescore and how many lists to probe. First, the number of candidates is doubled
    until probing all lists reaches the target recall. Then the number of probed lists is increased in steps of a
    quarter until recall reaches the target. If it cannot be reached, all lists are probed."""
    best = search_exactly(vectors, queries, _WANTED)

    def measure_recall(rescored: int, probes: int) -> float:
        return _compute_recall(best, index.find_nearest(queries, _WANTED, _WANTED * rescored, probes))

    while rescored < _MAX_RESCORED and measure_recall(rescored, index.lists) < TARGET_RECALL:
        rescored *= 2
    probes, recall_reached = 0, 0.0
    while recall_reached < TARGET_RECALL and probes < index.lists:
        probes = min(index.lists, max(probes + 1, math.ceil(probes * 1.25)))
        recall_reached = measure_recall(rescored, probes)
    return _Tuned(rescored, probes, recall_reached)


def _compute_recall(best: Candidates, candidates: Candidates) -> float:
    """Return the share of the best rows that were found."""
    return float(
        np.mean(
            [
                np.isin(best_rows, candidate_rows).mean()
                for best_rows, candidate_rows in zip(best, candidates, strict=True)
            ]
        )
    )
