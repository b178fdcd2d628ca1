"""What our search is held against: the same index asked through FAISS alone, and a graph of usearch."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors
from index.segments.dense import DenseParameters

__all__ = ["Graph", "graph_of", "plain"]

_LIMIT, _ROWS_AT_ONCE = 10, 65_536
_EXPANSIONS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)


class Graph(NamedTuple):
    seconds: float
    megabytes: float
    recall: float
    p50: float
    """Milliseconds of one query."""


def plain(directory: Path, parameters: DenseParameters) -> Callable[[Vectors], object]:
    """The same index, lists and candidates, which FAISS scores again with the same vectors, in half precision too."""
    import faiss

    (path,) = directory.glob("*.faiss")
    vectors = np.load(directory / "vectors.npy", mmap_mode="r")
    own = faiss.IndexScalarQuantizer(vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    own.train(vectors[:1].astype(np.float32))
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        own.add(vectors[start : start + _ROWS_AT_ONCE].astype(np.float32))
    index = faiss.IndexRefine(faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), own)
    lists = faiss.SearchParametersIVF()
    lists.nprobe = parameters.probes or 1
    asked = faiss.IndexRefineSearchParameters()
    asked.k_factor, asked.base_index_params = float(parameters.rescored or 1), lists
    return lambda queries: index.search(queries, _LIMIT, params=asked)


def graph_of(vectors: Vectors, queries: Vectors, exact: Sequence[NDArray[np.int64]], recall: float) -> Graph:
    """HNSW over bytes, searched as widely as it takes to find as much; alone, one query after the other."""
    from usearch.index import Index

    start = perf_counter()
    graph = Index(ndim=vectors.shape[1], metric="cos", dtype="i8", connectivity=16, expansion_add=128)
    graph.add(np.arange(len(vectors)), np.asarray(vectors, np.float32))
    seconds = perf_counter() - start
    found, times = 0.0, [0.0]
    for expansion in _EXPANSIONS:
        graph.expansion_search = expansion  # type: ignore[misc] # it has a setter
        shares, times = [], []
        for query, best in zip(queries, exact, strict=True):
            start = perf_counter()
            # As many candidates as bytes round away, then scored with the vectors themselves, as ours are.
            keys = graph.search(query, 2 * _LIMIT).keys.astype(np.int64)
            similar = vectors[keys].astype(np.float32) @ query
            nearest = keys[np.argsort(-similar)[:_LIMIT]]
            times.append((perf_counter() - start) * 1000)
            shares.append(len(np.intersect1d(nearest, best)) / _LIMIT)
        found = float(np.mean(shares))
        if found >= recall:
            break
    return Graph(seconds, graph.memory_usage / 1e6, found, float(np.median(times)))
