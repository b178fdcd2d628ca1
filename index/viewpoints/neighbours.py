"""Nearest viewpoints: exact while that is quick, a graph of small worlds (HNSW) beyond, so that an idea's cost does
not grow with the graph."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.ports import Found
from assayer.ports import Vectors

__all__ = ["FaissNeighbours"]

EXACT_UP_TO = 20_000
"""Rows searched one by one."""
_LINKS, _BUILD_BREADTH, _SEARCH_BREADTH = 32, 80, 128
"""Of HNSW: links a row, candidates kept while adding and while searching."""


class FaissNeighbours:
    """`assayer.methods.grapheval.ports.Neighbours`; not for use by two threads at once."""

    def __init__(self, dimensions: int, exact_up_to: int = EXACT_UP_TO) -> None:
        self._dimensions = dimensions
        self._exact_up_to = exact_up_to
        self._index = self._flat()

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, vectors: Vectors) -> None:
        faiss = _faiss()
        if isinstance(self._index, faiss.IndexFlatIP) and len(self) + len(vectors) > self._exact_up_to:
            held = self._index.reconstruct_n(0, len(self)) if len(self) else np.empty((0, self._dimensions), np.float32)
            self._index = faiss.IndexHNSWFlat(self._dimensions, _LINKS, faiss.METRIC_INNER_PRODUCT)
            self._index.hnsw.efConstruction = _BUILD_BREADTH
            self._index.add(np.ascontiguousarray(held))
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def clear(self) -> None:
        self._index = self._flat()

    def nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> Found:
        faiss = _faiss()
        if not len(self) or not len(vectors):
            return Found(np.full((len(vectors), limit), -1), np.full((len(vectors), limit), -np.inf, np.float32))
        if allowed is not None and np.count_nonzero(allowed) <= self._exact_up_to:
            return self._among(vectors, limit, np.flatnonzero(allowed))
        parameters = None
        selector = None if allowed is None else faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        if not isinstance(self._index, faiss.IndexFlatIP):
            parameters = faiss.SearchParametersHNSW(sel=selector, efSearch=max(_SEARCH_BREADTH, 2 * limit))
        elif selector is not None:
            parameters = faiss.SearchParameters(sel=selector)
        cosines, rows = self._index.search(np.ascontiguousarray(vectors, np.float32), limit, params=parameters)
        return Found(rows.astype(np.int64), np.where(rows >= 0, cosines, -np.inf).astype(np.float32))

    def _among(self, vectors: Vectors, limit: int, rows: NDArray[np.int64]) -> Found:
        """Exact search of a few rows; a filter leaves a small-world graph too few paths."""
        held = self._index.reconstruct_batch(rows) if len(rows) else None
        found = np.full((len(vectors), limit), -1)
        best = np.full((len(vectors), limit), -np.inf, np.float32)
        if held is None:
            return Found(found, best)
        cosines = vectors @ held.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :limit]
        found[:, : order.shape[1]] = rows[order]
        best[:, : order.shape[1]] = np.take_along_axis(cosines, order, axis=1)
        return Found(found, best)

    def save(self, path: Path) -> None:
        """Replaces the file at once, so that a reader never meets half of it."""
        faiss = _faiss()
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.part")
        faiss.write_index(self._index, str(unfinished))
        unfinished.replace(path)

    def restore(self, path: Path) -> None:
        """Takes over what was saved of these dimensions; otherwise starts empty. The file must be our own: reading an
        index is not safe against somebody who writes one."""
        faiss = _faiss()
        self.clear()
        if not path.is_file():
            return
        try:
            index = faiss.read_index(str(path))
        except RuntimeError:
            return
        if index.d == self._dimensions:
            self._index = index

    def _flat(self) -> Any:
        return _faiss().IndexFlatIP(self._dimensions)


def _faiss() -> Any:
    """Imported late, and untyped: the types that come with it do not know its Python half."""
    import faiss

    return faiss
