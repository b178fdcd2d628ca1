"""Nearest vectors: exact while that is quick, an inverted file with rescoring beyond.

Rows are sorted by publication date, so every cutoff is a prefix of the rows. Other filters, and papers that a later
segment replaced, come as a mask; where it leaves few rows these are searched exactly. At 25,000 rows an exact matrix
product answers in 1 ms; HNSW and IVF at the same recall take as long.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Frozen
from assayer.ports import Vectors

__all__ = ["EXACT_UP_TO", "TUNING", "Allowed", "Dense", "DenseParameters", "Nearest", "build_dense", "vectors_file"]

EXACT_UP_TO = 50_000
"""Rows; a prefix of so many is searched exactly whatever the index."""
TARGET_RECALL = 0.998
"""Recall@10 that decides how many lists are probed, on blends of three of the corpus's own passages: like a
question from another field they lie between the clusters. On such questions it came out as 0.985 and more."""

_VECTORS, _INDEX = "vectors.npy", "ivf.faiss"
_RESCORED = 4
"""Candidates fetched for each result wanted, to make up for the rounding to 8 bits."""
_ROWS_AT_ONCE, _QUERIES_AT_ONCE = 65_536, 64

TUNING = (TARGET_RECALL, _RESCORED)
"""Constants that a built index depends on."""


class DenseParameters(Frozen):
    kind: Literal["exact", "ivf_sq8"]
    rows: int
    lists: int | None = None
    probes: int | None = None
    recall_at_10: float | None = None
    """Against exact search, on the tuning queries; None for exact."""


class Nearest(NamedTuple):
    """Rows and their cosines, best first; equal ones by row."""

    rows: NDArray[np.int64]
    similarities: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Allowed:
    """Rows that count: the first so many, less those that a mask takes away."""

    rows: int
    mask: NDArray[np.bool_] | None = None
    """One value a row, True where it counts; None where all of the first do."""

    @cached_property
    def count(self) -> int:
        return self.rows if self.mask is None else int(np.count_nonzero(self.mask[: self.rows]))

    def listed(self) -> NDArray[np.int64]:
        if self.mask is None:
            return np.arange(self.rows, dtype=np.int64)
        return np.flatnonzero(self.mask[: self.rows]).astype(np.int64)


class Dense:
    """Searches the vectors of one directory. Nothing is read before it is needed."""

    def __init__(self, directory: Path, parameters: DenseParameters, exact_up_to: int) -> None:
        """As many rows as `exact_up_to`, whichever they are, are searched exactly."""
        self.vectors: Vectors = np.asarray(np.load(directory / _VECTORS, mmap_mode="r"))
        self._exact_up_to = exact_up_to
        self._probes = parameters.probes or 0
        self._index = _open_index(directory / _INDEX) if parameters.kind == "ivf_sq8" else None

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Vectors, limit: int, allowed: Allowed) -> list[Nearest]:
        """For each query the best of the rows that count."""
        count = allowed.count
        found: list[Nearest] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            some = queries[start : start + _QUERIES_AT_ONCE]
            candidates = self._candidates(some, min(limit, count), allowed, count)
            found += [self._rescore(*pair, limit) for pair in zip(some, candidates, strict=True)]
        return found

    def similarities(self, query: NDArray[np.float32], rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines to six decimals, the same to the last bit whatever else is asked."""
        exact = self.vectors[np.asarray(rows, np.int64)].astype(np.float64) @ query.astype(np.float64)
        return np.round(exact, 6)

    def _rescore(self, query: NDArray[np.float32], candidates: NDArray[np.int64], limit: int) -> Nearest:
        similarities = self.similarities(query, candidates)
        order = np.lexsort((candidates, -similarities))[:limit]
        return Nearest(candidates[order], similarities[order])

    def _candidates(self, queries: Vectors, limit: int, allowed: Allowed, count: int) -> Sequence[NDArray[np.int64]]:
        if self._index is None or count <= self._exact_up_to:
            return self._exact(queries, limit, allowed)
        return _probe(self._index, queries, limit * _RESCORED, allowed, count, self._probes)

    def _exact(self, queries: Vectors, limit: int, allowed: Allowed) -> Sequence[NDArray[np.int64]]:
        if allowed.mask is None:
            return _exact(self.vectors[: allowed.rows], queries, limit)
        listed = allowed.listed()
        return [listed[places] for places in _exact(self.vectors[listed], queries, limit)]


def build_dense(vectors: Vectors, directory: Path, tuning: Vectors, exact_up_to: int) -> DenseParameters:
    """`vectors` must already lie in the directory (see `vectors_file`). `tuning` are passages to ask for."""
    if len(vectors) <= exact_up_to:
        return DenseParameters(kind="exact", rows=len(vectors))
    import faiss

    lists = max(1, round(2 * math.sqrt(len(vectors))))
    dimensions = vectors.shape[1]
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimensions),
        dimensions,
        lists,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    sample = np.linspace(0, len(vectors) - 1, min(len(vectors), lists * 256)).astype(np.int64)
    index.train(vectors[sample].astype(np.float32))
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        index.add(vectors[start : start + _ROWS_AT_ONCE].astype(np.float32))
    faiss.write_index(index, str(directory / _INDEX))
    probes, recall = _tune(index, vectors, _blend(tuning))
    return DenseParameters(kind="ivf_sq8", rows=len(vectors), lists=lists, probes=probes, recall_at_10=recall)


def vectors_file(directory: Path, rows: int, dimensions: int) -> Vectors:
    """An empty file of vectors to be filled in place. In half precision: of unit vectors that moves a cosine by less
    than 0.0005, and halves what is kept and read."""
    file: Vectors = np.lib.format.open_memmap(
        directory / _VECTORS, mode="w+", dtype=np.float16, shape=(rows, dimensions)
    )
    return file


def _blend(queries: Vectors) -> Vectors:
    """Each query between itself and two others."""
    third = len(queries) // 3
    blended = queries + np.roll(queries, third, axis=0) + np.roll(queries, 2 * third, axis=0)
    normed: Vectors = blended / np.linalg.norm(blended, axis=1, keepdims=True)
    return normed


def _tune(index: Any, vectors: Vectors, queries: Vectors) -> tuple[int, float]:
    """The fewest lists, in steps of a quarter more, that reach the target; and the recall they reach."""
    exact = _exact(vectors, queries, 10)
    probes, recall = 0, 0.0
    while recall < TARGET_RECALL and probes < index.nlist:
        probes = min(index.nlist, max(probes + 1, math.ceil(probes * 1.25)))
        found = _probe(index, queries, 10 * _RESCORED, Allowed(len(vectors)), len(vectors), probes)
        recall = _recall(vectors, queries, exact, found)
    return probes, round(recall, 4)


def _recall(
    vectors: Vectors,
    queries: Vectors,
    exact: Sequence[NDArray[np.int64]],
    found: Sequence[NDArray[np.int64]],
) -> float:
    """Share of the exact ten that are among the best ten of what was found."""
    shares = []
    for query, best, candidates in zip(queries, exact, found, strict=True):
        kept = candidates[np.argsort(-(vectors[candidates] @ query), kind="stable")[:10]]
        shares.append(len(np.intersect1d(best, kept)) / len(best))
    return float(np.mean(shares))


def _exact(vectors: Vectors, queries: Vectors, limit: int) -> Sequence[NDArray[np.int64]]:
    if limit >= len(vectors):
        return [np.arange(len(vectors), dtype=np.int64)] * len(queries)
    best = np.empty((len(queries), 0), np.int64)
    scores = np.empty((len(queries), 0), np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float32)
        scores = np.hstack([scores, queries @ block.T])
        best = np.hstack([best, np.broadcast_to(np.arange(start, start + len(block)), (len(queries), len(block)))])
        if scores.shape[1] > limit:
            kept = np.argpartition(scores, -limit, axis=1)[:, -limit:]
            scores, best = np.take_along_axis(scores, kept, 1), np.take_along_axis(best, kept, 1)
    return list(best)


def _probe(
    index: Any, queries: Vectors, limit: int, allowed: Allowed, count: int, probes: int
) -> Sequence[NDArray[np.int64]]:
    """What does not count leaves fewer candidates in each list, so more lists are probed, in proportion."""
    import faiss

    parameters = faiss.SearchParametersIVF()
    parameters.nprobe = min(index.nlist, math.ceil(probes * index.ntotal / count))
    if allowed.mask is not None:
        bits = np.packbits(allowed.mask[: allowed.rows], bitorder="little")
        parameters.sel = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type] # wrapped for arrays
    elif allowed.rows < index.ntotal:
        parameters.sel = faiss.IDSelectorRange(0, allowed.rows, True)
    _, found = index.search(np.ascontiguousarray(queries, np.float32), limit, params=parameters)
    return [row[row >= 0] for row in found]


def _open_index(path: Path) -> Any:
    import faiss

    return faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
