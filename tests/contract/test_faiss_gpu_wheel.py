"""FAISS's GPU build without a GPU: that it has what is asked of it, by those names, and that the lack of a card is told
in words. `docs/run/gpus.md` says how to run it where the build for the CPU is installed."""

import ctypes
import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from index.faiss_build import load_faiss
from index.segments.gpus import FaissGpus

faiss = load_faiss()
pytestmark = pytest.mark.skipif(
    not hasattr(faiss, "StandardGpuResources"), reason="the installed FAISS is the build for the CPU"
)
ROWS, DIMENSIONS, LIMIT = 500, 16, 7


def test_gpu_kernel_parameter_names_exist_in_faiss() -> None:
    fields = {name for name, _ in inspect.getmembers(faiss.GpuDistanceParams, lambda item: isinstance(item, property))}
    assert fields >= {
        *("metric", "k", "dims", "vectors", "vectorType", "numVectors", "queries", "queryType", "numQueries"),
        *("outDistances", "outIndices", "outIndicesType", "device"),
    }
    assert {"res", "xq", "xb", "k", "metric", "device"} <= inspect.signature(faiss.knn_gpu).parameters.keys()
    assert next(iter(inspect.signature(faiss.index_cpu_to_all_gpus).parameters)) == "index"


def test_index_has_attributes_that_a_build_sets() -> None:
    index = faiss.IndexIVFPQFastScan(faiss.IndexFlatIP(DIMENSIONS), DIMENSIONS, 4, DIMENSIONS // 2, 4)
    assert index.clustering_index is None
    assert index.quantizer.ntotal == 0


def test_missing_gpu_is_reported_where_faiss_would_abort() -> None:
    if faiss.get_num_gpus():
        pytest.skip("there is a GPU here")
    program = """
import index.segments.gpus as gpus
gpus.list_faiss_packages = lambda: ["faiss-gpu"]
try:
    gpus.open_gpus("cuda")
except gpus.ConfigurationError as error:
    print(error)
"""
    program_result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert program_result.stdout.startswith("CUDA finds no GPU")
    probe_code = (
        "import faiss, numpy; one = numpy.ones((2, 4), 'f4'); faiss.knn_gpu(faiss.StandardGpuResources(), one, one, 1)"
    )
    probe = subprocess.run([sys.executable, "-c", probe_code], capture_output=True, text=True, check=False, timeout=120)
    assert probe.returncode == -6, "it is caught now: nothing need be counted first"


def test_kernel_receives_correct_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU computes the answer from the memory to which the kernel's arguments point."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 2)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    calls: list[Any] = []

    def on_the_cpu(resources: Any, call_arguments: Any) -> None:
        calls.append(call_arguments)
        rows = _view_array(call_arguments.vectors, (call_arguments.numVectors, call_arguments.dims), np.float16)
        queries = _view_array(call_arguments.queries, (call_arguments.numQueries, call_arguments.dims), np.float16)
        scores, places = faiss.knn(
            queries.astype(np.float32), rows.astype(np.float32), call_arguments.k, metric=faiss.METRIC_INNER_PRODUCT
        )
        _view_array(call_arguments.outDistances, scores.shape, np.float32)[:] = scores
        _view_array(call_arguments.outIndices, places.shape, np.int64)[:] = places

    monkeypatch.setattr(faiss, "bfKnn", on_the_cpu)
    gpus = FaissGpus(faiss)
    cluster_centres = np.random.default_rng(0).normal(size=(ROWS, DIMENSIONS))
    vectors = (cluster_centres / np.linalg.norm(cluster_centres, axis=1, keepdims=True)).astype(np.float16)
    queries = vectors[::50].astype(np.float32)
    gpu_vectors = torch.from_numpy(vectors)
    for rows in (ROWS, 123):
        neighbours = gpus.find_nearest(1, queries, gpu_vectors[:rows], LIMIT)
        scores, places = faiss.knn(queries, vectors[:rows].astype(np.float32), LIMIT, metric=faiss.METRIC_INNER_PRODUCT)
        assert neighbours.rows.tolist() == places.tolist()
        assert neighbours.scores.tolist() == scores.tolist()
    call = calls[0]
    assert (call.device, call.metric) == (1, faiss.METRIC_INNER_PRODUCT)
    assert call.vectorType == call.queryType == faiss.DistanceDataType_F16
    assert call.outIndicesType == faiss.IndicesDataType_I64
    assert call.vectorsRowMajor
    assert call.queriesRowMajor


def _view_array(pointer: Any, shape: tuple[int, ...], kind: type[np.generic]) -> np.ndarray:
    raw_bytes: np.ndarray = np.ctypeslib.as_array(
        (ctypes.c_byte * (int(np.prod(shape)) * np.dtype(kind).itemsize)).from_address(int(pointer))
    )
    return raw_bytes.view(kind).reshape(shape)
