"""Baseline for Assayer's search: the same index, searched with FAISS alone."""

import math
from typing import Any

import numpy as np

from assayer.ports import Vectors
from benchmarks.index.collection import LIMIT
from index.faiss_build import load_faiss
from index.segments.row_filter import RowFilter
from index.segments.vector_index import VectorIndexParameters

_ROWS_AT_ONCE = 65_536


class PlainFaiss:
    """The same index; FAISS's own refinement rescores the candidates with its own copy of the vectors, also in half
    precision."""

    def __init__(self, index: Any, vectors: Vectors, parameters: VectorIndexParameters) -> None:
        """`index` is Assayer's own index: the position of a second one in memory alone would change the time by a tenth
        or more."""
        faiss = load_faiss()
        own_index = faiss.IndexScalarQuantizer(
            vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        )
        own_index.train(vectors[:1].astype(np.float32))
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            own_index.add(vectors[start : start + _ROWS_AT_ONCE].astype(np.float32))
        self._index, self._parameters = faiss.IndexRefine(index, own_index), parameters

    def search(self, queries: Vectors, row_filter: RowFilter) -> Any:
        """Search with as many lists and candidates as Assayer does, also with the bits of the mask precomputed."""
        faiss, probes = load_faiss(), self._parameters.probes or 1
        lists = faiss.SearchParametersIVF(nprobe=math.ceil(probes * self._parameters.rows / row_filter.count))
        if row_filter.bits is not None:
            lists.sel = faiss.IDSelectorBitmap(row_filter.bits)
        refine_parameters = faiss.IndexRefineSearchParameters(k_factor=float(self._parameters.rescored or 1))
        refine_parameters.base_index_params = lists
        return self._index.search(queries, LIMIT, params=refine_parameters)
