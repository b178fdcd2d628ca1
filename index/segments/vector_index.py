"""Nearest vectors: exact while that is quick, beyond that among the candidates of an approximate index, which is
searched as widely as its tuning found necessary.

Rows are sorted by publication date, so every cutoff is a prefix of the rows. Other filters, and papers that a later
segment replaced, come as a mask; where it leaves few rows these are searched exactly. At 25,000 rows an exact matrix
product answers in 1 ms; HNSW and IVF at the same recall take as long.
"""

import math
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Frozen
from assayer.ports import Vectors
from index.segments.approximate_index import (
    INDEX_CONSTANTS,
    RESCORED_PER_RESULT,
    ApproximateIndex,
    Candidates,
    IndexKind,
    build_approximate_index,
    index_kind_for,
)
from index.segments.gpu_search import GpuVectors
from index.segments.gpus import Gpus
from index.segments.row_filter import RowFilter

__all__ = [
    "EXACT_UP_TO",
    "INDEX_FILE",
    "TARGET_RECALL",
    "TUNING_CONSTANTS",
    "VectorIndex",
    "VectorIndexParameters",
    "VectorMatches",
    "build_vector_index",
    "create_vectors_file",
    "exact_candidates",
]


EXACT_UP_TO = 50_000
"""Rows; a prefix of so many is searched exactly whatever the index."""
INDEX_FILE = "ivf.faiss"
_VECTORS = "vectors.npy"
_QUERIES_AT_ONCE, _SCORED_AT_ONCE = 64, 16_384
_SPARE = 8
"""Candidates beyond those wanted: products of many queries at once differ in their last bits from single ones, and how
queries are batched must not decide which paper is the last."""
_ROWS_AT_ONCE = 65_536
TARGET_RECALL = 0.998
"""Recall@10 that decides how many lists are probed, on blends of three of the corpus's own passages: like queries from
another field they lie between the clusters. On such queries it was 0.985 and more."""
_WANTED = 10
_TUNED_ON = 300
"""Of those blends, at most."""
_MOST_RESCORED = 64
TUNING_CONSTANTS = (TARGET_RECALL, _TUNED_ON, _MOST_RESCORED, INDEX_CONSTANTS)
"""Constants that a built index depends on."""


class VectorIndexParameters(Frozen):
    kind: IndexKind
    rows: int
    lists: int | None = None
    trained_on: int | None = None
    """Rows, spread evenly over all."""
    iterations: int | None = None
    seed: int | None = None
    """Of k-means."""
    rescored: int | None = None
    """Candidates for each result wanted."""
    probes: int | None = None
    recall_at_10: float | None = None
    """Against exact search, on the tuning queries; None for exact."""
    gpus: int | None = None
    """On which it was trained, so that only they give the same file again; None: on the CPU."""


class VectorMatches(NamedTuple):
    """Rows and their cosines, best first; equal ones by row."""

    rows: NDArray[np.int64]
    similarities: NDArray[np.float64]


class VectorIndex:
    """Searches the vectors of one directory. Nothing is read before it is needed."""

    def __init__(self, directory: Path, parameters: VectorIndexParameters, exact_up_to: int) -> None:
        """Up to `exact_up_to` rows are searched exactly."""
        self.vectors: Vectors = np.asarray(np.load(directory / _VECTORS, mmap_mode="r"))
        self._exact_up_to = exact_up_to
        self._probes, self._rescored = parameters.probes or 0, parameters.rescored or 1
        self.approximate: ApproximateIndex | None = None
        if parameters.kind != "exact":
            self.approximate = ApproximateIndex.open(directory / INDEX_FILE, self.vectors)
        self._on_gpus: GpuVectors | None = None

    def move_to(self, gpus: Gpus) -> None:
        """From now on candidates come from there, where they can. Raises ConfigurationError."""
        self._on_gpus = GpuVectors(self.vectors, gpus)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Vectors, limit: int, allowed: RowFilter) -> list[VectorMatches]:
        """For each query the best of the allowed rows."""
        wanted = min(limit, allowed.count)
        found: list[VectorMatches] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            some = queries[start : start + _QUERIES_AT_ONCE]
            candidates = self._candidates(some, wanted, allowed)
            step = max(1, _SCORED_AT_ONCE // max(1, candidates.shape[1]))
            for first in range(0, len(some), step):
                found += self._rescored_best(some[first : first + step], candidates[first : first + step], limit)
        return found

    def similarities(self, query: NDArray[np.float32], rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines to six decimals, identical to the last bit in every batch."""
        cosines = self.vectors[np.asarray(rows, np.int64)].astype(np.float64) @ query.astype(np.float64)
        return np.round(cosines, 6)

    def _rescored_best(self, queries: Vectors, candidates: Candidates, limit: int) -> list[VectorMatches]:
        """The best of each query's candidates, with cosines as exact as those of `similarities`."""
        own = self.vectors[candidates].astype(np.float64)  # a place without a candidate, -1, takes the last row
        cosines = np.einsum("qcd,qd->qc", own, queries.astype(np.float64)).round(6)
        cosines[candidates < 0] = -np.inf
        lines, order = np.arange(len(queries))[:, None], np.lexsort((candidates, -cosines))[:, :limit]
        rows, best = candidates[lines, order], cosines[lines, order]
        if rows.size and rows.min() < 0:
            return [VectorMatches(one[one >= 0], two[one >= 0]) for one, two in zip(rows, best, strict=True)]
        return list(map(VectorMatches, rows, best))

    def _candidates(self, queries: Vectors, wanted: int, allowed: RowFilter) -> Candidates:
        if self._on_gpus is not None and (found := self._on_gpus.candidates(queries, wanted, allowed)) is not None:
            return found
        if self.approximate is None or allowed.count <= self._exact_up_to:
            return self._exact(queries, wanted + _SPARE, allowed)
        # What does not count leaves fewer candidates in each list, so more lists are probed, in proportion.
        probes = math.ceil(self._probes * len(self) / allowed.count)
        return self.approximate.nearest(queries, wanted + _SPARE, wanted * self._rescored, probes, allowed)

    def _exact(self, queries: Vectors, limit: int, allowed: RowFilter) -> Candidates:
        if allowed.bits is None:
            return exact_candidates(self._vectors_for_product[: allowed.rows], queries, limit)
        listed = allowed.row_numbers()
        return listed[exact_candidates(self._vectors_for_product[listed], queries, limit)]

    @cached_property
    def _vectors_for_product(self) -> Vectors:
        """In single precision where they are few: converting takes far longer than multiplying."""
        return self.vectors.astype(np.float32) if len(self) <= self._exact_up_to else self.vectors


def create_vectors_file(directory: Path, rows: int, dimensions: int) -> Vectors:
    """An empty file of vectors to be filled in place. Half precision moves a cosine of unit vectors by less than
    0.0005, and halves disk and memory."""
    path = directory / _VECTORS
    file: Vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(rows, dimensions))
    with path.open("r+b") as opened:  # taken now: a disk that is full when a mapped page is written kills the process
        os.posix_fallocate(opened.fileno(), 0, path.stat().st_size)
    return file


def exact_candidates(vectors: Vectors, queries: Vectors, limit: int) -> Candidates:
    """The best `limit` rows for each query, in no order."""
    if limit >= len(vectors):
        return np.broadcast_to(np.arange(len(vectors), dtype=np.int64), (len(queries), len(vectors)))
    best = np.empty((len(queries), 0), np.int64)
    scores = np.empty((len(queries), 0), np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = np.asarray(vectors[start : start + _ROWS_AT_ONCE], np.float32)
        scores = np.hstack([scores, queries @ block.T])
        best = np.hstack([best, np.broadcast_to(np.arange(start, start + len(block)), (len(queries), len(block)))])
        if scores.shape[1] > limit:
            kept = np.argpartition(scores, -limit, axis=1)[:, -limit:]
            scores, best = np.take_along_axis(scores, kept, 1), np.take_along_axis(best, kept, 1)
    return best


def build_vector_index(
    vectors: Vectors,
    directory: Path,
    tuning: Vectors,
    exact_up_to: int,
    kind: IndexKind | None = None,
    gpus: Gpus | None = None,
) -> VectorIndexParameters:
    """`vectors` must lie in the directory already (see `create_vectors_file`). `tuning` are queries to tune with.
    Without a kind the size decides. `gpus` train an approximate index and deal rows to its lists."""
    chosen = kind or index_kind_for(len(vectors), vectors.shape[1], exact_up_to)
    if chosen == "exact":
        return VectorIndexParameters(kind="exact", rows=len(vectors))
    assigner = gpus.assigner(vectors.shape[1]) if gpus else None
    index, training = build_approximate_index(vectors, directory / INDEX_FILE, chosen, assigner)
    asked = tuning[np.linspace(0, len(tuning) - 1, min(len(tuning), _TUNED_ON)).astype(int)]
    tuned = _tune(index, vectors, _blend(asked), RESCORED_PER_RESULT[chosen])
    return VectorIndexParameters(
        kind=chosen,
        rows=len(vectors),
        lists=training.lists,
        trained_on=training.rows,
        iterations=training.iterations,
        seed=training.seed,
        rescored=tuned.rescored,
        probes=tuned.probes,
        recall_at_10=round(tuned.recall, 4),
        gpus=gpus.count if gpus else None,
    )


def _blend(queries: Vectors) -> Vectors:
    """Each query between itself and two others."""
    third = len(queries) // 3
    blended = queries + np.roll(queries, third, axis=0) + np.roll(queries, 2 * third, axis=0)
    normed: Vectors = blended / np.linalg.norm(blended, axis=1, keepdims=True)
    return normed


class _Tuned(NamedTuple):
    rescored: int
    probes: int
    recall: float


def _tune(index: ApproximateIndex, vectors: Vectors, queries: Vectors, rescored: int) -> _Tuned:
    """Doubles the candidates until probing all lists reaches the target, then probes a quarter more lists at a time
    until that reaches it. Where the target cannot be reached, all lists are probed."""
    best = exact_candidates(vectors, queries, _WANTED)

    def recall(rescored: int, probes: int) -> float:
        return _recall(best, index.nearest(queries, _WANTED, _WANTED * rescored, probes))

    while rescored < _MOST_RESCORED and recall(rescored, index.lists) < TARGET_RECALL:
        rescored *= 2
    probes, reached = 0, 0.0
    while reached < TARGET_RECALL and probes < index.lists:
        probes = min(index.lists, max(probes + 1, math.ceil(probes * 1.25)))
        reached = recall(rescored, probes)
    return _Tuned(rescored, probes, reached)


def _recall(best: Candidates, found: Candidates) -> float:
    """Share of the best that were found."""
    return float(np.mean([np.isin(one, other).mean() for one, other in zip(best, found, strict=True)]))
