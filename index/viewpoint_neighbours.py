"""Find the nearest viewpoints. If there are few, they are searched exactly; otherwise a small-world graph (HNSW) keeps
the cost per idea from growing with their number."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.ports import NearestViewpoints
from assayer.ports import Vectors
from index.faiss_build import load_faiss

EXACT_UP_TO = 20_000
"""Maximum number of rows that are searched exactly."""
_LINKS, _BUILD_BREADTH, _SEARCH_BREADTH = 32, 40, 96
"""HNSW parameters: links per row, and candidates kept while adding and while searching. With 16-bit vectors, they find
97.8 % of the ten nearest among 24,000 invented viewpoints. Breadths of 80 and 128 with 32-bit vectors find 98.8 %, but
take 2.5 times as long to build and twice as long to search (`benchmarks/graph` at commit ec3f1495, processor time)."""


class FaissNeighbours:
    """Implements `assayer.methods.grapheval.ports.NeighbourIndex`. It is not thread-safe. The first vectors that are
    added determine the number of dimensions."""

    def __init__(self, exact_up_to: int = EXACT_UP_TO) -> None:
        self._exact_up_to = exact_up_to
        self._index: Any = None

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def add(self, vectors: Vectors) -> None:
        faiss = load_faiss()
        rows = np.ascontiguousarray(vectors, np.float32)
        if self._index is None:
            self._index = faiss.IndexFlatIP(rows.shape[1])
        if isinstance(self._index, faiss.IndexFlatIP) and len(self) + len(rows) > self._exact_up_to:
            self._index = _build_small_world(self._index)
        self._index.add(rows)

    def clear(self) -> None:
        self._index = None

    def find_nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> NearestViewpoints:
        faiss = load_faiss()
        if not len(self) or not len(vectors):
            return NearestViewpoints(
                np.full((len(vectors), limit), -1), np.full((len(vectors), limit), -np.inf, np.float32)
            )
        index, parameters = self._index, None
        is_searched_exactly = allowed is not None and np.count_nonzero(allowed) <= self._exact_up_to
        selector = None if allowed is None else faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        if is_searched_exactly and not isinstance(index, faiss.IndexFlatIP):
            # Search exactly, because too few paths remain in a small-world graph if the filter is strict.
            index = faiss.downcast_index(index.storage)
        if index is self._index and not isinstance(index, faiss.IndexFlatIP):
            parameters = faiss.SearchParametersHNSW(sel=selector, efSearch=max(_SEARCH_BREADTH, 2 * limit))
        elif selector is not None:
            parameters = faiss.SearchParameters(sel=selector)
        cosines, rows = index.search(np.ascontiguousarray(vectors, np.float32), limit, params=parameters)
        return NearestViewpoints(rows.astype(np.int64), np.where(rows >= 0, cosines, -np.inf).astype(np.float32))

    def save(self, path: Path) -> None:
        """Save the index, replacing the file atomically. Does nothing if the index is empty."""
        if self._index is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial_path = path.with_name(f"{path.name}.part")
        load_faiss().write_index(self._index, str(partial_path))
        partial_path.replace(path)

    def restore(self, path: Path) -> None:
        """Load a saved index, or start empty if there is no readable file. This program must have written the file,
        because FAISS does not validate what it reads."""
        self.clear()
        if not path.is_file():
            return
        try:
            self._index = load_faiss().read_index(str(path))
        except RuntimeError:
            self._index = None


def _build_small_world(flat: Any) -> Any:
    faiss = load_faiss()
    half_precision = faiss.ScalarQuantizer.QT_fp16
    index = faiss.IndexHNSWSQ(flat.d, half_precision, _LINKS, faiss.METRIC_INNER_PRODUCT)
    # 16-bit values need no training, but FAISS requires the call.
    index.train(flat.reconstruct_n(0, min(1, flat.ntotal)))
    index.hnsw.efConstruction = _BUILD_BREADTH
    if flat.ntotal:
        index.add(flat.reconstruct_n(0, flat.ntotal))
    return index
