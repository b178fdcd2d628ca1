"""Nearest vectors: exact while that is quick, beyond that among the candidates of an approximate index.

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
from index.segments.allowed import Allowed
from index.segments.exact import exact
from index.segments.graphics import Resident
from index.segments.kinds import Approximate, Candidates, Kind

__all__ = ["EXACT_UP_TO", "INDEX", "Dense", "DenseParameters", "Nearest", "vectors_file"]

EXACT_UP_TO = 50_000
"""Rows; a prefix of so many is searched exactly whatever the index."""
INDEX = "ivf.faiss"
_VECTORS = "vectors.npy"
_QUERIES_AT_ONCE, _SCORED_AT_ONCE = 64, 16_384
_SPARE = 8
"""Candidates more than are wanted: a product of many queries at once differs in its last bits from that of one, and
whoever is asked with whom must not decide which paper is the last."""


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


class Dense:
    """Searches the vectors of one directory. Nothing is read before it is needed."""

    def __init__(self, directory: Path, parameters: DenseParameters, exact_up_to: int) -> None:
        """As many rows as `exact_up_to`, whichever they are, are searched exactly."""
        self.vectors: Vectors = np.asarray(np.load(directory / _VECTORS, mmap_mode="r"))
        self._exact_up_to = exact_up_to
        self._probes, self._rescored = parameters.probes or 0, parameters.rescored or 1
        self.approximate: Approximate | None = None
        if parameters.kind != "exact":
            self.approximate = Approximate.open(directory / INDEX, self.vectors)
        self._resident: Resident | None = None

    def move(self, device: str) -> None:
        """From now on candidates come from there. Raises ConfigurationError."""
        self._resident = Resident(self.vectors, device)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Vectors, limit: int, allowed: Allowed) -> list[Nearest]:
        """For each query the best of the rows that count."""
        wanted = min(limit, allowed.count)
        found: list[Nearest] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            some = queries[start : start + _QUERIES_AT_ONCE]
            candidates = self._candidates(some, wanted, allowed)
            step = max(1, _SCORED_AT_ONCE // max(1, candidates.shape[1]))
            for first in range(0, len(some), step):
                found += self._scored(some[first : first + step], candidates[first : first + step], limit)
        return found

    def similarities(self, query: NDArray[np.float32], rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines to six decimals, the same to the last bit whatever else is asked."""
        cosines = self.vectors[np.asarray(rows, np.int64)].astype(np.float64) @ query.astype(np.float64)
        return np.round(cosines, 6)

    def _scored(self, queries: Vectors, candidates: Candidates, limit: int) -> list[Nearest]:
        """The best of each query's candidates, by the vectors themselves and as precisely as `similarities`."""
        own = self.vectors[candidates].astype(np.float64)  # a place without a candidate, -1, takes the last row
        cosines = np.einsum("qcd,qd->qc", own, queries.astype(np.float64)).round(6)
        cosines[candidates < 0] = -np.inf
        lines, order = np.arange(len(queries))[:, None], np.lexsort((candidates, -cosines))[:, :limit]
        rows, best = candidates[lines, order], cosines[lines, order]
        if rows.size and rows.min() < 0:
            return [Nearest(one[one >= 0], two[one >= 0]) for one, two in zip(rows, best, strict=True)]
        return list(map(Nearest, rows, best))

    def _candidates(self, queries: Vectors, wanted: int, allowed: Allowed) -> Candidates:
        if self._resident is not None:
            return self._resident.candidates(queries, wanted, allowed.rows, allowed.mask)
        if self.approximate is None or allowed.count <= self._exact_up_to:
            return self._exact(queries, wanted + _SPARE, allowed)
        # What does not count leaves fewer candidates in each list, so more lists are probed, in proportion.
        probes = math.ceil(self._probes * len(self) / allowed.count)
        return self.approximate.nearest(queries, wanted + _SPARE, wanted * self._rescored, probes, allowed)

    def _exact(self, queries: Vectors, limit: int, allowed: Allowed) -> Candidates:
        if allowed.mask is None:
            return exact(self._multiplied[: allowed.rows], queries, limit)
        listed = allowed.listed()
        return listed[exact(self._multiplied[listed], queries, limit)]

    @cached_property
    def _multiplied(self) -> Vectors:
        """In single precision where they are few: the conversion takes far longer than the product."""
        return self.vectors.astype(np.float32) if len(self) <= self._exact_up_to else self.vectors


def vectors_file(directory: Path, rows: int, dimensions: int) -> Vectors:
    """An empty file of vectors to be filled in place. In half precision: of unit vectors that moves a cosine by less
    than 0.0005, and halves what is kept and read."""
    path = directory / _VECTORS
    file: Vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(rows, dimensions))
    with path.open("r+b") as opened:  # taken now: a disk that is full when a mapped page is written kills the process
        os.posix_fallocate(opened.fileno(), 0, path.stat().st_size)
    return file
