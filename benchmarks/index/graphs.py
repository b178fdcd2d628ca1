"""Graphs (HNSW) over bytes, of the same vectors: what an inverted file is held against."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol

import numpy as np

from assayer.models import Frozen
from assayer.ports import Vectors
from benchmarks.index.collection import LIMIT
from index.faiss_build import load_faiss
from index.segments.approximate_index import Candidates

__all__ = ["GRAPHS", "Graph", "GraphBuilt", "build_graph", "nearest"]

_LINKS, _BUILD_BREADTH = 16, 128
_ROWS_AT_ONCE = 65_536
_RESCORED = 2
"""Candidates for each result wanted, as with our bytes."""


class GraphBuilt(Frozen):
    seconds: float
    processor_seconds: float
    megabytes: float
    """Without the vectors in half precision, which ours keeps as well."""


class Graph(Protocol):
    def add(self, vectors: Vectors) -> None: ...

    def candidates(self, queries: Vectors, count: int, breadth: int, share: float) -> Candidates:
        """So many of the first rows, `share` of all; fewer, filled up with -1 or later rows, where that is hard."""
        ...

    def save(self, path: Path) -> None: ...

    def open(self, path: Path) -> None: ...


class UsearchGraph:
    """From Python it takes no filter: later rows are found as well, and have to be left out afterwards."""

    def __init__(self, dimensions: int) -> None:
        from usearch.index import Index

        self._graph: Any = Index(
            ndim=dimensions, metric="cos", dtype="i8", connectivity=_LINKS, expansion_add=_BUILD_BREADTH
        )

    def add(self, vectors: Vectors) -> None:
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float32)
            self._graph.add(np.arange(start, start + len(block)), block)

    def candidates(self, queries: Vectors, count: int, breadth: int, share: float) -> Candidates:
        self._graph.expansion_search = breadth
        keys = self._graph.search(queries, round(count / share)).keys
        return np.asarray(keys).astype(np.int64).reshape(len(queries), -1)

    def save(self, path: Path) -> None:
        self._graph.save(str(path))

    def open(self, path: Path) -> None:
        self._graph.load(str(path))


class FaissGraph:
    def __init__(self, dimensions: int) -> None:
        faiss = load_faiss()
        self._graph = faiss.IndexHNSWSQ(dimensions, faiss.ScalarQuantizer.QT_8bit, _LINKS, faiss.METRIC_INNER_PRODUCT)
        self._graph.hnsw.efConstruction = _BUILD_BREADTH

    def add(self, vectors: Vectors) -> None:
        self._graph.train(vectors[:_ROWS_AT_ONCE].astype(np.float32))
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            self._graph.add(vectors[start : start + _ROWS_AT_ONCE].astype(np.float32))

    def candidates(self, queries: Vectors, count: int, breadth: int, share: float) -> Candidates:
        faiss = load_faiss()
        asked = faiss.SearchParametersHNSW(efSearch=breadth)
        if share < 1:
            asked.sel = faiss.IDSelectorRange(0, round(self._graph.ntotal * share), True)
        return np.asarray(self._graph.search(queries, count, params=asked)[1])

    def save(self, path: Path) -> None:
        load_faiss().write_index(self._graph, str(path))

    def open(self, path: Path) -> None:
        self._graph = load_faiss().read_index(str(path))


GRAPHS: dict[str, Callable[[int], Graph]] = {"usearch": UsearchGraph, "FAISS's HNSW": FaissGraph}


def build_graph(name: str, vectors: Vectors, directory: Path) -> tuple[Graph, GraphBuilt]:
    """Or what was built there before."""
    path = directory / f"{name.replace(' ', '-')}.graph"
    note, graph = path.with_suffix(".json"), GRAPHS[name](vectors.shape[1])
    if note.is_file():
        graph.open(path)
        return graph, GraphBuilt.model_validate_json(note.read_bytes())
    start, spent = perf_counter(), process_time()
    graph.add(vectors)
    seconds, processor_seconds = perf_counter() - start, process_time() - spent
    graph.save(path)
    size = path.stat().st_size / 1e6
    built = GraphBuilt(seconds=seconds, processor_seconds=processor_seconds, megabytes=size)
    note.write_text(built.model_dump_json(), "utf-8")
    return graph, built


def nearest(graph: Graph, vectors: Vectors, queries: Vectors, breadth: int, share: float = 1) -> Candidates:
    """Candidates scored with the vectors themselves, the best first."""
    found = graph.candidates(queries, _RESCORED * LIMIT, breadth, share)
    cosines = (vectors[np.maximum(found, 0)].astype(np.float32) @ queries[:, :, None])[:, :, 0]
    cosines[(found < 0) | (found >= round(len(vectors) * share))] = -np.inf
    return np.take_along_axis(found, np.argsort(-cosines, axis=1)[:, :LIMIT], 1)
