"""Choose, train and search approximate FAISS indexes.

All kinds are inverted files (IVF). Their candidates are rescored with the vectors themselves, so recall is lost only if
candidates are not found. Codes encode the vectors and not their residuals, which is faster at the same recall.
docs/adr/0013 explains the alternatives that were rejected."""

import math
from pathlib import Path
from typing import Any, Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors
from index.disk_access import convert_library_errors
from index.faiss_build import load_faiss
from index.segments.row_filter import RowFilter
from index.segments.weak_method import cache_method

ApproximateIndexKind = Literal["ivf_sq8", "ivf_pq"]
"""Kind of approximate index. `ivf_sq8` stores one byte per dimension. `ivf_pq` stores two bits per dimension and
compares them by table lookup in registers (FAISS's fast scan). It takes a quarter of the memory and about half the
search time, but longer training."""
IndexKind = Literal["exact"] | ApproximateIndexKind

_PQ_FROM = 500_000
"""Number of rows above which product quantization saves more than its training costs."""
RESCORED_PER_RESULT: dict[ApproximateIndexKind, int] = {"ivf_sq8": 2, "ivf_pq": 8}
"""Number of candidates fetched per result, to compensate for the rounding of codes; tuning can increase it."""
_SAMPLE, _ITERATIONS, _SEED = 64, 10, 1234
"""Training rows per list, and the iterations and seed of k-means."""
_ROWS_AT_ONCE = 65_536
_REMEMBERED = 16
"""Number of search parameter objects to cache, because creating one in Python takes 10 µs."""

Candidates = NDArray[np.int64]
"""Row numbers of the candidates for each query, with shape (queries, candidates), padded with -1."""
INDEX_CONSTANTS = (_PQ_FROM, tuple(RESCORED_PER_RESULT.items()), _SAMPLE, _ITERATIONS, _SEED)
"""Constants that a built index depends on."""


class IndexTraining(NamedTuple):
    lists: int
    rows: int
    """Number of sample rows, spread evenly over all rows."""
    iterations: int = _ITERATIONS
    seed: int = _SEED


def choose_index_kind(rows: int, dimensions: int, exact_up_to: int) -> IndexKind:
    if rows <= exact_up_to:
        return "exact"
    return "ivf_pq" if rows >= _PQ_FROM and dimensions % 2 == 0 else "ivf_sq8"


class ApproximateIndex:
    """Approximate nearest-neighbour index with rescored candidates."""

    def __init__(self, index: Any, vectors: Vectors) -> None:
        """Wrap an index. `vectors` are the indexed vectors, in half precision."""
        self.index = index
        """FAISS index without rescoring."""
        self._refined = add_rescoring(index, vectors)
        self._vectors = vectors  # kept alive: the index uses their memory
        self._parameters = cache_method(self._create_parameters, _REMEMBERED)

    @classmethod
    def open(cls, path: Path, vectors: Vectors) -> "ApproximateIndex":
        """Open an index file. This program must have written it, because FAISS does not validate files."""
        faiss = load_faiss()
        return cls(faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), vectors)

    @property
    def lists(self) -> int:
        return int(self.index.nlist)

    def find_nearest(
        self, queries: Vectors, limit: int, rescored: int, probes: int, row_filter: RowFilter | None = None
    ) -> Candidates:
        """Return the best `limit` rows for each query, best first. `probes` lists are searched, and the best `rescored`
        candidates (at least `limit`) are rescored with the vectors themselves."""
        query_array, parameters = (
            np.ascontiguousarray(queries, np.float32),
            self._parameters(limit, rescored, probes, row_filter),
        )
        return np.asarray(self._refined.search(query_array, limit, params=parameters)[1])

    def _create_parameters(self, limit: int, rescored: int, probes: int, row_filter: RowFilter | None) -> Any:
        faiss = load_faiss()
        return faiss.IndexRefineSearchParameters(
            k_factor=(max(rescored, limit) + 0.5) / limit,  # half a row more, because FAISS rounds the product down
            base_index_params=faiss.SearchParametersIVF(
                nprobe=min(self.lists, probes), sel=None if row_filter is None else self._create_selector(row_filter)
            ),
        )

    def _create_selector(self, row_filter: RowFilter) -> Any:
        if row_filter.bits is not None:
            return load_faiss().IDSelectorBitmap(row_filter.bits)
        return load_faiss().IDSelectorRange(0, row_filter.rows, True) if row_filter.rows < self.index.ntotal else None


def build_approximate_index(
    vectors: Vectors, path: Path, kind: ApproximateIndexKind, assigner: Any = None
) -> tuple[ApproximateIndex, IndexTraining]:
    """Train an index and write it to a file. `assigner` is an empty flat inner-product index that finds each row's
    nearest list, during k-means and afterwards; by default the CPU does this. It is not stored in the file."""
    lists = max(1, round(2 * math.sqrt(len(vectors))))
    index = _create_empty_index(kind, vectors.shape[1], lists)
    index.cp.niter, index.cp.seed = _ITERATIONS, _SEED
    index.cp.max_points_per_centroid = _SAMPLE
    sample = np.linspace(0, len(vectors) - 1, min(len(vectors), lists * _SAMPLE)).astype(np.int64)
    index.clustering_index = assigner
    index.train(vectors[sample].astype(np.float32))
    index.clustering_index, quantizer = None, index.quantizer
    if assigner is not None:
        assigner.reset()
        assigner.add(quantizer.reconstruct_n(0, lists))
        index.quantizer = assigner
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        index.add(vectors[start : start + _ROWS_AT_ONCE].astype(np.float32))
    index.quantizer = quantizer
    with convert_library_errors(path.parent):
        load_faiss().write_index(index, str(path))
    return ApproximateIndex(index, vectors), IndexTraining(lists, len(sample))


def _create_empty_index(kind: ApproximateIndexKind, dimensions: int, lists: int) -> Any:
    faiss = load_faiss()
    coarse, metric = faiss.IndexFlatIP(dimensions), faiss.METRIC_INNER_PRODUCT
    match kind:
        case "ivf_sq8":
            code = faiss.ScalarQuantizer.QT_8bit
            return faiss.IndexIVFScalarQuantizer(coarse, dimensions, lists, code, metric, False)
        case "ivf_pq":
            return faiss.IndexIVFPQFastScan(coarse, dimensions, lists, dimensions // 2, 4, metric)
    assert_never(kind)


def add_rescoring(index: Any, vectors: Vectors) -> Any:
    """Wrap an index so that it rescores candidates with `vectors`, which must be in half precision. They are not
    copied, and must stay in memory as long as the index."""
    return load_faiss().IndexRefine(index, _wrap_vectors(vectors))


def _wrap_vectors(vectors: Vectors) -> Any:
    faiss, vector_bytes = load_faiss(), vectors.view(np.uint8)
    half_precision = faiss.ScalarQuantizer.QT_fp16
    storage = faiss.IndexScalarQuantizer(vectors.shape[1], half_precision, faiss.METRIC_INNER_PRODUCT)
    no_owner = storage.codes.owner  # a null pointer, which cannot be created in Python
    address = faiss.swig_ptr(vector_bytes)
    storage.codes = faiss.MaybeOwnedVectorUInt8.create_view(address, vector_bytes.nbytes, no_owner)
    storage.ntotal = len(vectors)
    return storage
