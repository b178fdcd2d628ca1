"""GPUs as used by the index, through FAISS's GPU build: search for the nearest rows in GPU memory, and for the nearest
centroid of each row while an index is built.

The GPU build has the same module name as the CPU build and replaces it. Three of its behaviours are avoided here:
without a driver its calls end the process (SIGABRT), so available GPUs are counted first; a selector passed to an index
on a GPU is silently ignored, so none is passed; and `faiss.contrib.torch_utils`, with which `knn_gpu` would accept
tensors, replaces the `search` of every index by a method without parameters, so its kernel (`bfKnn`) is called
directly, in the same way."""

from functools import cache
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from assayer.ports import Vectors
from index.faiss_build import faiss_packages, load_faiss

Device = Literal["cpu", "cuda"]
MOST_SELECTED = 2_048
"""Maximum results per query that a GPU can select."""
_ROWS_AT_ONCE = 65_536
"""Number of rows copied to a GPU at a time; they are read from disk as they are copied."""
_ON_THE_CPU = "or set ASSAYER_CORPUS__DEVICE=cpu."


class GpuMatches(NamedTuple):
    """Matches, one line per query, best first."""

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]
    """Row numbers, counted from the first searched row."""


class Gpus(Protocol):
    """Operations that run on GPUs. The code that chooses between them and merges the results is tested on every
    machine."""

    count: int

    def put(self, gpu: int, rows: Vectors) -> Any:
        """Copy rows in half precision to the memory of a GPU, where they stay for the lifetime of the returned handle;
        a slice of the handle holds its first rows. Raises ConfigurationError if there is not enough memory."""
        ...

    def nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        """Return the nearest of the rows stored by `put`, by inner product, limited to the rows available and to the
        maximum that a GPU can select."""
        ...

    def assigner(self, dimensions: int) -> Any:
        """Return an empty flat inner-product FAISS index on all GPUs."""
        ...


@cache
def open_gpus(device: Device) -> Gpus | None:
    """Return the GPUs of this process, or None for the CPU. Raises ConfigurationError that states what is missing."""
    if device == "cpu":
        return None
    faiss = load_faiss()
    installed = faiss_packages()
    instead = f"Run: pip uninstall {' '.join(installed)}; then pip install 'assayer-research[gpu]', {_ON_THE_CPU}"
    if len(installed) > 1:
        raise ConfigurationError(
            f"{' and '.join(installed)} are both installed, and only one can be: they bring the same module.", instead
        )
    if not hasattr(faiss, "StandardGpuResources"):
        name = " ".join(installed) or "of unknown origin"
        raise ConfigurationError(f"The FAISS that is installed ({name}, {faiss.__version__}) knows no GPU.", instead)
    return FaissGpus(faiss)


class FaissGpus:
    """Implements `Gpus`. Rows are stored by torch, because FAISS would copy them again for each query."""

    def __init__(self, faiss: Any) -> None:
        """Open the GPUs. Raises ConfigurationError if there is no GPU, or if torch cannot use it."""
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
                "Loading vectors into GPU memory requires torch, which is not installed.",
                f"Run: pip install 'assayer-research[gpu]', {_ON_THE_CPU}",
            ) from None
        if torch.cuda.device_count() < self.count:
            raise ConfigurationError(
                f"FAISS sees {self.count} GPUs and torch {torch.__version__} sees {torch.cuda.device_count()}.",
                f"Install a build of torch with CUDA, {_ON_THE_CPU}",
            )
        self._faiss, self._torch = faiss, torch
        self._resources = [faiss.StandardGpuResources() for _ in range(self.count)]
        self._locks = [Lock() for _ in range(self.count)]
        """Locks of the GPU resources, which allow a single thread at a time; each version of a corpus is read
        in a separate thread."""

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
        """Return the name of a GPU in torch."""
        return f"cuda:{gpu}"

    def nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        """Return the nearest rows. Queries and results are in host memory, so only FAISS itself waits for the GPU."""
        faiss, asked = self._faiss, np.ascontiguousarray(queries, np.float16)
        matches = _empty_matches(len(asked), min(limit, len(rows), MOST_SELECTED))
        wanted = faiss.GpuDistanceParams()
        wanted.metric, wanted.device = faiss.METRIC_INNER_PRODUCT, gpu
        wanted.k, wanted.dims = matches.rows.shape[1], asked.shape[1]
        wanted.vectors, wanted.numVectors = faiss.cast_integer_to_void_ptr(rows.data_ptr()), len(rows)
        wanted.queries, wanted.numQueries = faiss.swig_ptr(asked), len(asked)
        # The kernel takes both in one precision alone.
        wanted.vectorType = wanted.queryType = faiss.DistanceDataType_F16
        wanted.outDistances, wanted.outIndices = map(faiss.swig_ptr, matches)
        wanted.outIndicesType = faiss.IndicesDataType_I64
        with self._locks[gpu]:
            faiss.bfKnn(self._resources[gpu], wanted)
        return matches

    def assigner(self, dimensions: int) -> Any:
        return self._faiss.index_cpu_to_all_gpus(self._faiss.IndexFlatIP(dimensions))


def _empty_matches(queries: int, limit: int) -> GpuMatches:
    return GpuMatches(np.empty((queries, limit), np.float32), np.empty((queries, limit), np.int64))
