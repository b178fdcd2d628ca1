"""GPUs as the index uses them, through FAISS's GPU build: the nearest of rows that lie in their memory, and the nearest
centroid of each row while an index is built.

The GPU build has the module name of the CPU's and replaces it. Three of its ways are avoided here: without a driver its
calls end the process (SIGABRT), so what is there is counted first; a selector given to an index on a GPU is ignored
without a word, so none is; and `faiss.contrib.torch_utils`, with which `knn_gpu` would take tensors, replaces the
`search` of every index by one that takes no parameters, so its kernel (`bfKnn`) is called as it calls it.
"""

from functools import cache
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from assayer.ports import Vectors
from index.faiss_build import faiss_packages, load_faiss

__all__ = ["MOST_SELECTED", "Device", "FaissGpus", "GpuMatches", "GpuStandIn", "Gpus", "open_gpus"]

Device = Literal["cpu", "cuda"]
MOST_SELECTED = 2_048
"""Results of one query that a GPU can select."""
_ROWS_AT_ONCE = 65_536
"""On their way to a GPU: they are read from the disk as they go."""
_ON_THE_CPU = "or set ASSAYER_CORPUS__DEVICE=cpu."


class GpuMatches(NamedTuple):
    """A line a query, best first."""

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]
    """Counted from the first of the searched rows."""


class Gpus(Protocol):
    """What is done on GPUs; what decides which of it, and puts answers together, is tested on every machine."""

    count: int

    def put(self, gpu: int, rows: Vectors) -> Any:
        """Rows in half precision in the memory of a GPU, for as long as the answer is kept; its first rows are a slice
        of it. Raises ConfigurationError where there is no room."""
        ...

    def nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        """By inner product, of what `put` gave; at most as many as there are, and as a GPU can select."""
        ...

    def assigner(self, dimensions: int) -> Any:
        """An empty flat index of FAISS's, of inner products, on all GPUs."""
        ...


@cache
def open_gpus(device: Device) -> Gpus | None:
    """Those of this process, None for the CPU. Raises ConfigurationError that says what is missing."""
    if device == "cpu":
        return None
    faiss = load_faiss()
    installed = faiss_packages()
    instead = f"Run: pip uninstall {' '.join(installed)}; then pip install 'assayer[gpu]', {_ON_THE_CPU}"
    if len(installed) > 1:
        raise ConfigurationError(
            f"{' and '.join(installed)} are both installed, and only one can be: they bring the same module.", instead
        )
    if not hasattr(faiss, "StandardGpuResources"):
        name = " ".join(installed) or "of unknown origin"
        raise ConfigurationError(f"The FAISS that is installed ({name}, {faiss.__version__}) knows no GPU.", instead)
    return FaissGpus(faiss)


class FaissGpus:
    """Implements `Gpus`; torch lays the rows, which FAISS would copy anew for each question."""

    def __init__(self, faiss: Any) -> None:
        """Raises ConfigurationError where there is no GPU, or torch cannot use it."""
        self.count = int(faiss.get_num_gpus())
        if not self.count:
            raise ConfigurationError(
                "There is no GPU here that CUDA can use: no card, no driver, or none that this process may see.",
                f"See what nvidia-smi says and what CUDA_VISIBLE_DEVICES is set to, {_ON_THE_CPU}",
            )
        try:
            import torch
        except ImportError:
            raise ConfigurationError(
                "Vectors are laid into a GPU's memory by torch, which is not installed.",
                f"Run: pip install 'assayer[gpu]', {_ON_THE_CPU}",
            ) from None
        if torch.cuda.device_count() < self.count:
            raise ConfigurationError(
                f"FAISS sees {self.count} GPUs and torch {torch.__version__} sees {torch.cuda.device_count()}.",
                f"Install a build of torch with CUDA, {_ON_THE_CPU}",
            )
        self._faiss, self._torch = faiss, torch
        self._resources = [faiss.StandardGpuResources() for _ in range(self.count)]
        self._locks = [Lock() for _ in range(self.count)]
        """Resources are for one thread at a time; versions of a corpus are read in a thread each."""

    def put(self, gpu: int, rows: Vectors) -> Any:
        torch = self._torch
        try:
            there = torch.empty(rows.shape, dtype=torch.float16, device=self.device(gpu))
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                some = np.array(rows[start : start + _ROWS_AT_ONCE], np.float16)
                there[start : start + len(some)].copy_(torch.from_numpy(some))
            torch.cuda.synchronize(gpu)
        except RuntimeError as error:
            raise ConfigurationError(
                f"{rows.nbytes / 1e9:.1f} GB of the corpus's vectors cannot be put on GPU {gpu}: "
                f"{str(error).splitlines()[0]}",
                "Set ASSAYER_CORPUS__DEVICE=cpu, give the process more GPUs, or spread the corpus over shards.",
            ) from None
        return there

    def device(self, gpu: int) -> str:
        """As torch calls it."""
        return f"cuda:{gpu}"

    def nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        """Queries and answers lie in the machine's memory, so nothing is waited for on the GPU but by FAISS itself."""
        faiss, asked = self._faiss, np.ascontiguousarray(queries, np.float16)
        found = _empty_matches(len(asked), min(limit, len(rows), MOST_SELECTED))
        wanted = faiss.GpuDistanceParams()
        wanted.metric, wanted.device = faiss.METRIC_INNER_PRODUCT, gpu
        wanted.k, wanted.dims = found.rows.shape[1], asked.shape[1]
        wanted.vectors, wanted.numVectors = faiss.cast_integer_to_void_ptr(rows.data_ptr()), len(rows)
        wanted.queries, wanted.numQueries = faiss.swig_ptr(asked), len(asked)
        # The kernel takes both in one precision alone.
        wanted.vectorType = wanted.queryType = faiss.DistanceDataType_F16
        wanted.outDistances, wanted.outIndices = map(faiss.swig_ptr, found)
        wanted.outIndicesType = faiss.IndicesDataType_I64
        with self._locks[gpu]:
            faiss.bfKnn(self._resources[gpu], wanted)
        return found

    def assigner(self, dimensions: int) -> Any:
        return self._faiss.index_cpu_to_all_gpus(self._faiss.IndexFlatIP(dimensions))


class GpuStandIn:
    """Implements `Gpus` on the CPU, for tests and measurements: all but the kernels is then as on GPUs."""

    def __init__(self, count: int = 1) -> None:
        self.count = count

    def put(self, gpu: int, rows: Vectors) -> Any:
        return np.array(rows, np.float16)

    def nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        faiss, asked = load_faiss(), np.ascontiguousarray(queries, np.float16).astype(np.float32)
        wanted = min(limit, len(rows), MOST_SELECTED)
        return GpuMatches(*faiss.knn(asked, rows.astype(np.float32), wanted, metric=faiss.METRIC_INNER_PRODUCT))

    def assigner(self, dimensions: int) -> Any:
        return load_faiss().IndexFlatIP(dimensions)


def _empty_matches(queries: int, limit: int) -> GpuMatches:
    return GpuMatches(np.empty((queries, limit), np.float32), np.empty((queries, limit), np.int64))
