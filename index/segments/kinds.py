"""Approximate indexes: which kind for how many rows, how each is trained, and how it is asked.

All are inverted files whose candidates are scored again with the vectors themselves, so a kind costs recall only by
what it does not find. Codes are of the vectors, not of their residuals: on the same lists that found as much,
sooner. What was tried and why it is not here: docs/adr/0013-kinds-of-index.md.
"""

import math
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors
from index.disk import library_writing
from index.libraries import load_faiss
from index.segments.allowed import Allowed
from index.segments.refining import refined

__all__ = [
    "KINDS",
    "RESCORED",
    "Approximate",
    "ApproximateKind",
    "Candidates",
    "Kind",
    "Training",
    "build_approximate",
    "kind_for",
]

ApproximateKind = Literal["ivf_sq8", "ivf_pq"]
"""`ivf_sq8`: a byte a dimension. `ivf_pq`: two bits a dimension, compared by table look-up in registers (FAISS's fast
scan): a quarter of the memory and about half the time, for a longer training."""
Kind = Literal["exact"] | ApproximateKind

_PQ_FROM = 500_000
"""Rows from which the memory and time that product quantisation saves outweigh its training."""
RESCORED: dict[ApproximateKind, int] = {"ivf_sq8": 2, "ivf_pq": 8}
"""Candidates fetched for each result wanted, to make up for the rounding of the codes, more where needed."""
_SAMPLE, _ITERATIONS, _SEED = 64, 10, 1234
"""Rows a list to train on, rounds of k-means, and its seed."""
_ROWS_AT_ONCE = 65_536
_REMEMBERED = 16
"""Ways of asking: FAISS's Python half takes 10 µs to put one together."""

Candidates = NDArray[np.int64]
"""Rows, one line a query; -1 where there were fewer."""
KINDS = (_PQ_FROM, tuple(RESCORED.items()), _SAMPLE, _ITERATIONS, _SEED)
"""Constants that a built index depends on."""


class Training(NamedTuple):
    lists: int
    rows: int
    """Of the sample, spread evenly over all."""
    iterations: int = _ITERATIONS
    seed: int = _SEED


def kind_for(rows: int, dimensions: int, exact_up_to: int) -> Kind:
    if rows <= exact_up_to:
        return "exact"
    return "ivf_pq" if rows >= _PQ_FROM and dimensions % 2 == 0 else "ivf_sq8"


class Approximate:
    """Rows that are probably the nearest, scored in single precision."""

    def __init__(self, index: Any, vectors: Vectors) -> None:
        """`vectors` are what is in the index, in half precision."""
        self.index = index
        """FAISS's, before anything is scored again."""
        self._refined = refined(index, vectors)
        self._vectors = vectors  # the index reads them where they lie
        self._parameters = lru_cache(_REMEMBERED)(self._made_parameters)

    @classmethod
    def open(cls, path: Path, vectors: Vectors) -> "Approximate":
        """Of an index in one's own keeping: FAISS trusts what it reads."""
        faiss = load_faiss()
        return cls(faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), vectors)

    @property
    def lists(self) -> int:
        return int(self.index.nlist)

    def nearest(
        self, queries: Vectors, limit: int, scored: int, probes: int, allowed: Allowed | None = None
    ) -> Candidates:
        """For each query the best so many, best first, of as many candidates as are scored with the vectors
        themselves, or of `limit` if that is more."""
        asked, parameters = np.ascontiguousarray(queries, np.float32), self._parameters(limit, scored, probes, allowed)
        return np.asarray(self._refined.search(asked, limit, params=parameters)[1])

    def _made_parameters(self, limit: int, scored: int, probes: int, allowed: Allowed | None) -> Any:
        faiss = load_faiss()
        return faiss.IndexRefineSearchParameters(
            k_factor=(max(scored, limit) + 0.5) / limit,  # in single precision, and the product is rounded down
            base_index_params=faiss.SearchParametersIVF(
                nprobe=min(self.lists, probes), sel=None if allowed is None else self._selector(allowed)
            ),
        )

    def _selector(self, allowed: Allowed) -> Any:
        if allowed.bits is not None:
            return load_faiss().IDSelectorBitmap(allowed.bits)
        return load_faiss().IDSelectorRange(0, allowed.rows, True) if allowed.rows < self.index.ntotal else None


def build_approximate(vectors: Vectors, path: Path, kind: ApproximateKind) -> tuple[Approximate, Training]:
    lists = max(1, round(2 * math.sqrt(len(vectors))))
    index = _empty(kind, vectors.shape[1], lists)
    index.cp.niter, index.cp.seed = _ITERATIONS, _SEED
    index.cp.max_points_per_centroid = _SAMPLE
    sample = np.linspace(0, len(vectors) - 1, min(len(vectors), lists * _SAMPLE)).astype(np.int64)
    index.train(vectors[sample].astype(np.float32))
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        index.add(vectors[start : start + _ROWS_AT_ONCE].astype(np.float32))
    with library_writing(path.parent):
        load_faiss().write_index(index, str(path))
    return Approximate(index, vectors), Training(lists, len(sample))


def _empty(kind: ApproximateKind, dimensions: int, lists: int) -> Any:
    faiss = load_faiss()
    coarse, metric = faiss.IndexFlatIP(dimensions), faiss.METRIC_INNER_PRODUCT
    match kind:
        case "ivf_sq8":
            code = faiss.ScalarQuantizer.QT_8bit
            return faiss.IndexIVFScalarQuantizer(coarse, dimensions, lists, code, metric, False)
        case "ivf_pq":
            return faiss.IndexIVFPQFastScan(coarse, dimensions, lists, dimensions // 2, 4, metric)
    assert_never(kind)
