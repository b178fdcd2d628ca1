"""Nearest vectors: exact while that is quick, beyond that among the candidates of an approximate index.

Rows are sorted by publication date, so every cutoff is a prefix of the rows. Other filters, and papers that a later
segment replaced, come as a mask; where it leaves few rows these are searched exactly. At 25,000 rows an exact matrix
product answers in 1 ms; HNSW and IVF at the same recall take as long.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Frozen
from assayer.ports import Vectors
from index.segments.graphics import Resident
from index.segments.kinds import KINDS, RESCORED, Approximate, Candidates, Kind, build_approximate, kind_for

__all__ = ["EXACT_UP_TO", "TUNING", "Allowed", "Dense", "DenseParameters", "Nearest", "build_dense", "vectors_file"]

EXACT_UP_TO = 50_000
"""Rows; a prefix of so many is searched exactly whatever the index."""
TARGET_RECALL = 0.998
"""Recall@10 that decides how many lists are probed, on blends of three of the corpus's own passages: like a
question from another field they lie between the clusters. On such questions it came out as 0.985 and more."""

_VECTORS, _INDEX = "vectors.npy", "ivf.faiss"
_ROWS_AT_ONCE, _QUERIES_AT_ONCE, _SCORED_AT_ONCE = 65_536, 64, 16_384

_TUNED_ON = 300
"""Of those blends, at most."""
_MOST_RESCORED = 64
_SPARE = 16
"""Candidates more than are wanted: a product of many queries at once differs in its last bits from that of one, and
whoever is asked with whom must not decide which paper is the last."""

TUNING = (TARGET_RECALL, _TUNED_ON, _MOST_RESCORED, KINDS)
"""Constants that a built index depends on."""


class DenseParameters(Frozen):
    kind: Kind
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
        self._probes, self._rescored = parameters.probes or 0, parameters.rescored or 1
        self._index = None
        if parameters.kind != "exact":
            self._index = Approximate.open(directory / _INDEX)
        self._resident: Resident | None = None

    def move(self, device: str) -> None:
        """From now on candidates come from there. Raises ConfigurationError."""
        self._resident = Resident(self.vectors, device)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Vectors, limit: int, allowed: Allowed) -> list[Nearest]:
        """For each query the best of the rows that count."""
        count = allowed.count
        found: list[Nearest] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            some = queries[start : start + _QUERIES_AT_ONCE]
            candidates = self._candidates(some, min(limit, count), allowed, count)
            step = max(1, _SCORED_AT_ONCE // max(1, candidates.shape[1]))
            for first in range(0, len(some), step):
                found += self._scored(some[first : first + step], candidates[first : first + step], limit)
        return found

    def similarities(self, query: NDArray[np.float32], rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines to six decimals, the same to the last bit whatever else is asked."""
        exact = self.vectors[np.asarray(rows, np.int64)].astype(np.float64) @ query.astype(np.float64)
        return np.round(exact, 6)

    def _scored(self, queries: Vectors, candidates: Candidates, limit: int) -> list[Nearest]:
        """The best of each query's candidates, by the vectors themselves and as precisely as `similarities`."""
        own = self.vectors[np.maximum(candidates, 0)].astype(np.float64)
        cosines = np.round((own @ queries.astype(np.float64)[:, :, None])[:, :, 0], 6)
        cosines[candidates < 0] = -np.inf
        order = np.lexsort((candidates, -cosines))[:, :limit]
        rows, best = np.take_along_axis(candidates, order, 1), np.take_along_axis(cosines, order, 1)
        kept = np.count_nonzero(rows >= 0, axis=1).tolist()
        return [Nearest(one[:many], two[:many]) for one, two, many in zip(rows, best, kept, strict=True)]

    def _candidates(self, queries: Vectors, limit: int, allowed: Allowed, count: int) -> Candidates:
        if self._resident is not None:
            return self._resident.candidates(queries, limit, allowed.rows, allowed.mask)
        if self._index is None or count <= self._exact_up_to:
            return self._exact(queries, limit, allowed)
        # What does not count leaves fewer candidates in each list, so more lists are probed, in proportion.
        probes = math.ceil(self._probes * len(self) / count)
        return self._index.candidates(queries, limit * self._rescored, probes, allowed.rows, allowed.mask)

    def _exact(self, queries: Vectors, limit: int, allowed: Allowed) -> Candidates:
        if allowed.mask is None:
            return _exact(self._multiplied[: allowed.rows], queries, limit + _SPARE)
        listed = allowed.listed()
        return listed[_exact(self._multiplied[listed], queries, limit + _SPARE)]

    @cached_property
    def _multiplied(self) -> Vectors:
        """In single precision where they are few: the conversion takes far longer than the product."""
        return self.vectors.astype(np.float32) if len(self) <= self._exact_up_to else self.vectors


def build_dense(
    vectors: Vectors, directory: Path, tuning: Vectors, exact_up_to: int, kind: Kind | None = None
) -> DenseParameters:
    """`vectors` must already lie in the directory (see `vectors_file`). `tuning` are passages to ask for. Without a
    kind the size decides."""
    chosen = kind or kind_for(len(vectors), vectors.shape[1], exact_up_to)
    if chosen == "exact":
        return DenseParameters(kind="exact", rows=len(vectors))
    index, training = build_approximate(vectors, directory / _INDEX, chosen)
    asked = tuning[np.linspace(0, len(tuning) - 1, min(len(tuning), _TUNED_ON)).astype(int)]
    tuned = _tune(index, vectors, _blend(asked), RESCORED[chosen])
    return DenseParameters(
        kind=chosen,
        rows=len(vectors),
        lists=training.lists,
        trained_on=training.rows,
        iterations=training.iterations,
        seed=training.seed,
        rescored=tuned.rescored,
        probes=tuned.probes,
        recall_at_10=round(tuned.recall, 4),
    )


def vectors_file(directory: Path, rows: int, dimensions: int) -> Vectors:
    """An empty file of vectors to be filled in place. In half precision: of unit vectors that moves a cosine by less
    than 0.0005, and halves what is kept and read."""
    path = directory / _VECTORS
    file: Vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(rows, dimensions))
    with path.open("r+b") as opened:  # taken now: a disk that is full when a mapped page is written kills the process
        os.posix_fallocate(opened.fileno(), 0, path.stat().st_size)
    return file


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


def _tune(index: Approximate, vectors: Vectors, queries: Vectors, rescored: int) -> _Tuned:
    """The fewest candidates, by doubling, with which all lists reach the target; then the fewest lists, in steps of a
    quarter more, that do. What no number of candidates reaches is as good as it gets."""
    exact = _exact(vectors, queries, 10)

    def recall(rescored: int, probes: int) -> float:
        found = index.candidates(queries, 10 * rescored, probes, len(vectors))
        return _recall(vectors, queries, exact, found)

    while rescored < _MOST_RESCORED and recall(rescored, index.lists) < TARGET_RECALL:
        rescored *= 2
    probes, reached = 0, 0.0
    while reached < TARGET_RECALL and probes < index.lists:
        probes = min(index.lists, max(probes + 1, math.ceil(probes * 1.25)))
        reached = recall(rescored, probes)
    return _Tuned(rescored, probes, reached)


def _recall(
    vectors: Vectors,
    queries: Vectors,
    exact: Candidates,
    found: Candidates,
) -> float:
    """Share of the exact ten that are among the best ten of what was found."""
    shares = []
    for query, best, row in zip(queries, exact, found, strict=True):
        candidates = row[row >= 0]
        kept = candidates[np.argsort(-(vectors[candidates] @ query), kind="stable")[:10]]
        shares.append(len(np.intersect1d(best, kept)) / len(best))
    return float(np.mean(shares))


def _exact(vectors: Vectors, queries: Vectors, limit: int) -> Candidates:
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
