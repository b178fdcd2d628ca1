"""Use GPUs through FAISS's GPU build: find the nearest rows in GPU memory and, while an index is built, each row's
nearest centroid.

The GPU build has the same module name as the CPU build and replaces it. It has three pitfalls:

- Without a driver, its calls abort the process (SIGABRT), so available GPUs are counted first.
- A selector for an index on a GPU is silently ignored, so none is passed.
- `faiss.contrib.torch_utils`, with which `knn_gpu` accepts tensors, replaces every index's `search` method by one
without parameters, so `knn_gpu`'s kernel (`bfKnn`) is called directly."""

from functools import cache
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from assayer.ports import Vectors
from index.faiss_build import list_faiss_packages, load_faiss

Device = Literal["cpu", "cuda"]
MAX_SELECTED = 2_048
"""Maximum number of results per query that a GPU can select."""
_ROWS_AT_ONCE = 65_536
"""Number of rows copied to a GPU at a time; they are read from disk as they are copied."""
_CPU_HINT = "To use the CPU instead, set ASSAYER_CORPUS__DEVICE=cpu."


class GpuMatches(NamedTuple):
    """Matches with one line per query, best first."""

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]
    """Row numbers, counted from the first row that was searched."""


class Gpus(Protocol):
    """Interface for GPU operations, so that code that uses them can be tested without a GPU."""

    count: int

    def put(self, gpu: int, rows: Vectors) -> Any:
        """Copy rows to a GPU's memory in half precision, and return a handle that keeps them there and can be sliced.
        Raises ConfigurationError if there is not enough memory."""
        ...

    def find_nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        """Return the nearest of the rows stored by `put`, by inner product: up to `limit`, but no more than there are
        rows, and no more than `MAX_SELECTED`."""
        ...

    def create_assigner(self, dimensions: int) -> Any:
        """Return an empty flat inner-product FAISS index on all GPUs."""
        ...


@cache
def open_gpus(device: Device) -> Gpus | None:
    """Return this process's GPUs, or None if `device` is the CPU. Raises ConfigurationError if they cannot be used."""
    if device == "cpu":
        return None
    faiss = load_faiss()
    installed_packages = list_faiss_packages()
    install_hint = (
        f"Run: pip uninstall {' '.join(installed_packages)}; then pip install 'assayer-research[gpu]'. {_CPU_HINT}"
    )
    if len(installed_packages) > 1:
        raise ConfigurationError(
            f"{' and '.join(installed_packages)} are both installed, but they provide the same module.",
            install_hint,
        )
    if not hasattr(faiss, "StandardGpuResources"):
        name = " ".join(installed_packages) or "of unknown origin"
        raise ConfigurationError(
            f"The installed FAISS ({name}, {faiss.__version__}) does not support GPUs.", install_hint
        )
    return FaissGpus(faiss)


class FaissGpus:
    """Implements `Gpus` with FAISS. torch stores the rows, because FAISS would copy them for each query."""

    def __init__(self, faiss: Any) -> None:
        """Open the GPUs. Raises ConfigurationError if there is no GPU, or if torch cannot use it."""
        self.count = int(faiss.get_num_gpus())
        if not self.count:
            raise ConfigurationError(
                "CUDA finds no GPU: there is no card or driver, or the process is not allowed to see it.",
                f"Check nvidia-smi and CUDA_VISIBLE_DEVICES. {_CPU_HINT}",
            )
        try:
            import torch
        except ImportError:
            raise ConfigurationError(
                "Loading vectors into GPU memory requires torch, which is not installed.",
                f"Install it with: pip install 'assayer-research[gpu]'. {_CPU_HINT}",
            ) from None
        if torch.cuda.device_count() < self.count:
            raise ConfigurationError(
                f"FAISS finds {self.count} GPUs, but torch {torch.__version__} finds {torch.cuda.device_count()}.",
                f"Install a build of torch with CUDA. {_CPU_HINT}",
            )
        self._faiss, self._torch = faiss, torch
        self._resources = [faiss.StandardGpuResources() for _ in range(self.count)]
        self._locks = [Lock() for _ in range(self.count)]
        """One lock per GPU, because FAISS's resources allow one thread at a time, and each open version has its own
        thread."""

    def put(self, gpu: int, rows: Vectors) -> Any:
        torch = self._torch
        try:
            tensor = torch.empty(rows.shape, dtype=torch.float16, device=self.get_device_name(gpu))
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                chunk = np.array(rows[start : start + _ROWS_AT_ONCE], np.float16)
                tensor[start : start + len(chunk)].copy_(torch.from_numpy(chunk))
            torch.cuda.synchronize(gpu)
        except RuntimeError as error:
            raise ConfigurationError(
                f"{rows.nbytes / 1e9:.1f} GB of the corpus's vectors cannot be copied to GPU {gpu}: "
                f"{str(error).splitlines()[0]}",
                "Set ASSAYER_CORPUS__DEVICE=cpu, give the process more GPUs, or split the corpus into more shards.",
            ) from None
        return tensor

    def get_device_name(self, gpu: int) -> str:
        """Return torch's name for a GPU."""
        return f"cuda:{gpu}"

    def find_nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        """Return the nearest rows. Queries and results are in host memory."""
        faiss, query_array = self._faiss, np.ascontiguousarray(queries, np.float16)
        matches = _create_empty_matches(len(query_array), min(limit, len(rows), MAX_SELECTED))
        parameters = faiss.GpuDistanceParams()
        parameters.metric, parameters.device = faiss.METRIC_INNER_PRODUCT, gpu
        parameters.k, parameters.dims = matches.rows.shape[1], query_array.shape[1]
        parameters.vectors, parameters.numVectors = faiss.cast_integer_to_void_ptr(rows.data_ptr()), len(rows)
        parameters.queries, parameters.numQueries = faiss.swig_ptr(query_array), len(query_array)
        # The kernel needs vectors and queries in the same precision.
        parameters.vectorType = parameters.queryType = faiss.DistanceDataType_F16
        parameters.outDistances, parameters.outIndices = map(faiss.swig_ptr, matches)
        parameters.outIndicesType = faiss.IndicesDataType_I64
        with self._locks[gpu]:
            faiss.bfKnn(self._resources[gpu], parameters)
        return matches

    def create_assigner(self, dimensions: int) -> Any:
        return self._faiss.index_cpu_to_all_gpus(self._faiss.IndexFlatIP(dimensions))


def _create_empty_matches(queries: int, limit: int) -> GpuMatches:
    return GpuMatches(np.empty((queries, limit), np.float32), np.empty((queries, limit), np.int64))
